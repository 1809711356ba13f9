#include "controller/file_request.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "controller/copy.h"

namespace sluice::controller {

namespace {

bool is_aligned(const media_request& request, std::uint32_t granule) {
  return std::all_of(request.pieces.begin(), request.pieces.end(), [&](const iovec& piece) {
    return (reinterpret_cast<std::uintptr_t>(piece.iov_base) | piece.iov_len) % granule == 0;
  });
}

/// Copies between the bounce and the asker's pieces.
void exchange(media_request& request, bool into_bounce) {
  std::byte* at = request.bounce.get();
  for (const iovec& piece : request.bounced) {
    auto* theirs = static_cast<std::byte*>(piece.iov_base);
    if (into_bounce)
      copy_bytes(at, theirs, piece.iov_len);
    else
      copy_bytes(theirs, at, piece.iov_len);
    at += piece.iov_len;
  }
}

/// Drops the first `bytes` of what is still to move.
void advance(media_request& request, std::uint64_t bytes) {
  request.moved += bytes;
  while (bytes > 0) {
    iovec& piece = request.pieces[request.next_piece];
    const std::uint64_t n = std::min<std::uint64_t>(bytes, piece.iov_len);
    piece.iov_base = static_cast<std::byte*>(piece.iov_base) + n;
    piece.iov_len -= n;
    bytes -= n;
    if (piece.iov_len == 0) ++request.next_piece;
  }
}

/// Past the file's end there are zeroes.
void fill_rest(media_request& request) {
  for (std::size_t i = request.next_piece; i < request.pieces.size(); ++i)
    std::memset(request.pieces[i].iov_base, 0, request.pieces[i].iov_len);
  request.moved = request.bytes;
}

bool finish(media_request& request, int error) {
  request.error = error;
  if (request.bounce) {
    if (request.op == media_op::read && error == 0) exchange(request, false);
    request.bounce.reset();
  }
  return true;
}

}  // namespace

void prepare_file_request(media_request& request, std::uint32_t granule) {
  request.moved = 0;
  request.next_piece = 0;
  if (request.op != media_op::read && request.op != media_op::write) return;
  if (granule == 1 || is_aligned(request, granule)) return;
  request.bounce = allocate_aligned(request.bytes);
  request.bounced = std::move(request.pieces);
  request.pieces = {{request.bounce.get(), request.bytes}};
  if (request.op == media_op::write) exchange(request, true);
}

bool take_file_result(media_request& request, std::int64_t result, std::uint32_t granule) {
  if (result == -EINTR || result == -EAGAIN) return false;
  if (result < 0) return finish(request, static_cast<int>(-result));
  if (request.op != media_op::read && request.op != media_op::write) return finish(request, 0);
  advance(request, static_cast<std::uint64_t>(result));
  if (request.moved == request.bytes) return finish(request, 0);
  const bool ended = result == 0 || result % granule != 0;
  if (!ended) return false;
  if (request.op == media_op::write) return finish(request, EIO);
  fill_rest(request);
  return finish(request, 0);
}

int fallocate_mode(media_op op) {
  return FALLOC_FL_KEEP_SIZE | (op == media_op::discard ? FALLOC_FL_PUNCH_HOLE : FALLOC_FL_ZERO_RANGE);
}

int write_flags(const media_request& request) { return request.through ? RWF_DSYNC : 0; }

}  // namespace sluice::controller
