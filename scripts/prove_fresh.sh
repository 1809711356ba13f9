#!/usr/bin/env bash
# Proves the quick start on a Debian 12 that holds nothing else: a debootstrap, entered by chroot. Needs root.
# With --test it also runs `scripts/test.sh host` there. It proves what is committed, not what lies in the work tree.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

work=$SLUICE_ROOT/build/fresh
root=$work/root
base=$work/bookworm.tar

# Debian's own archives as this machine's apt knows them: "uri suite component" a line.
debian_sources() {
  apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sed -n 's/^Debian bookworm[^ ]* //p' | sort -u
}

make_base() {
  [ ! -e "$base" ] || return 0
  command -v debootstrap >/dev/null || as_root apt-get -q -y install debootstrap
  say "prove_fresh: making a minimal Debian 12"
  rm -rf "$root"
  debootstrap --variant=minbase bookworm "$root" ${mirror:+"$mirror"} >"$work/debootstrap.log" ||
    die "debootstrap failed: the log is $work/debootstrap.log"
  tar -C "$root" -cf "$base.part" .
  mv "$base.part" "$base"
}

# A fresh root with a clone of the tree, which reaches the network the way this machine does.
make_root() {
  rm -rf "$root"
  mkdir -p "$root"
  tar -C "$root" -xf "$base"
  git clone -q "$SLUICE_ROOT" "$root/sluice"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
  [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/"
  debian_sources | sed 's/^/deb /' >"$root/etc/apt/sources.list.new"
  [ ! -s "$root/etc/apt/sources.list.new" ] || mv "$root/etc/apt/sources.list.new" "$root/etc/apt/sources.list"
  apt-config dump | grep -E '^Acquire::(https?::|Check-)' >"$root/etc/apt/apt.conf.d/90machine" || true
}

# Runs a command in the root's /sluice, in an environment that holds no more than a login's and the way to the network.
inside() {
  local network=()
  mapfile -t network < <(env | grep -E '^(https?_proxy|no_proxy|PIP_INDEX_URL|PIP_CERT)=' -i || true)
  chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    "${network[@]}" /bin/sh -c 'cd /sluice && exec "$@"' sh "$@"
}

step() {
  local began=$SECONDS name=$1
  shift
  say "=== prove_fresh: $name"
  "$@" || die "FAILED after $((SECONDS - began)) s: $name"
  report+=("$(printf '%5d s  %s' $((SECONDS - began)) "$name")")
}

without_network() { unshare --net -- bash -c "$(declare -f inside); root=$root; inside \"\$@\"" bash "$@"; }

build_offline() {
  inside rm -rf build/host
  without_network cmake --preset host && without_network cmake --build --preset host
}

# A user who is not root, with sudo, in a tree of their own.
run_as_user() {
  inside apt-get -q -y install --no-install-recommends sudo >/dev/null
  inside sh -c 'useradd -m -s /bin/bash guest && echo "guest ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/guest &&
    rm -rf .deps build && chown -R guest: /sluice'
  inside sudo -u guest --set-home scripts/quickstart.sh
}

main() {
  local report=() mirror
  [ "$(id -u)" -eq 0 ] || die "needs root: chroot and mount"
  mkdir -p "$work"
  mirror=$(debian_sources | sed -n 's/^\([^ ]*\) bookworm main$/\1/p' | head -n 1)
  make_base
  make_root
  # This script runs in a mount namespace of its own (below): these end with it.
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  step "quick start, as root" inside scripts/quickstart.sh
  step "quick start, a second time" inside scripts/quickstart.sh
  step "build without network" build_offline
  [ "${1:-}" != --test ] || step "scripts/test.sh host" inside scripts/test.sh host
  step "quick start, as a user with sudo" run_as_user
  say "=== prove_fresh: all passed"
  printf '%s\n' "${report[@]}" >&2
}

case ${1:-} in
  '' | --test) exec unshare --mount --propagation private "$0" --inside-namespace "$@" ;;
  --inside-namespace) shift && main "$@" ;;
  *) die "knows only --test" ;;
esac
