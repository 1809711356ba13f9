#!/usr/bin/env bash
# Proves the quick start on a system that holds nothing else: a debootstrap of Debian 12, or with --ubuntu of Ubuntu 24.04,
# entered by chroot. Needs root. With --test it also runs `scripts/test.sh host` there. It proves what is committed, not
# what lies in the work tree.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

work=$SLUICE_ROOT/build/fresh
root=$work/root
release=bookworm

ubuntu_mirror=http://archive.ubuntu.com/ubuntu
# Holds the keys by which Ubuntu's archive is checked.
ubuntu_keyring=pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1_all.deb
ubuntu_keyring_sha256=36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8

# Debian's own archives as this machine's apt knows them: "uri suite component" a line.
debian_sources() {
  apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sed -n 's/^Debian bookworm[^ ]* //p' | sort -u
}

ubuntu_sources() { printf "$ubuntu_mirror %s main universe\n" noble noble-updates noble-security; }

bootstrap_debian() {
  local mirror
  mirror=$(debian_sources | sed -n 's/^\([^ ]*\) bookworm main$/\1/p' | head -n 1)
  debootstrap --variant=minbase bookworm "$root" ${mirror:+"$mirror"}
}

bootstrap_ubuntu() {
  python3 -c 'import sys, urllib.request; urllib.request.urlretrieve(*sys.argv[1:])' "$ubuntu_mirror/$ubuntu_keyring" "$work/keyring.deb"
  echo "$ubuntu_keyring_sha256 $work/keyring.deb" | sha256sum --check --quiet
  dpkg-deb -x "$work/keyring.deb" "$work/keyring"
  # One script serves all releases of Ubuntu; those newer than debootstrap have no name of their own for it.
  debootstrap --variant=minbase --components=main,universe --keyring="$work/keyring/usr/share/keyrings/ubuntu-archive-keyring.gpg" \
    noble "$root" "$ubuntu_mirror" /usr/share/debootstrap/scripts/gutsy
}

make_base() {
  local base=$work/$release.tar
  [ ! -e "$base" ] || return 0
  command -v debootstrap >/dev/null || as_root apt-get -q -y install debootstrap
  say "prove_fresh: making a minimal $release"
  rm -rf "$root"
  "bootstrap_$system" >"$work/debootstrap.log" || die "debootstrap failed: the log is $work/debootstrap.log"
  tar -C "$root" -cf "$base.part" .
  mv "$base.part" "$base"
}

# A fresh root with a clone of the tree, which reaches the network the way this machine does.
make_root() {
  rm -rf "$root"
  mkdir -p "$root"
  tar -C "$root" -xf "$work/$release.tar"
  git clone -q "$SLUICE_ROOT" "$root/sluice"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
  [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/"
  "${system}_sources" | sed 's/^/deb /' >"$root/etc/apt/sources.list.new"
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
  local report=()
  [ "$(id -u)" -eq 0 ] || die "needs root: chroot and mount"
  mkdir -p "$work"
  make_base
  make_root
  # This script runs in a mount namespace of its own (below): these end with it.
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  step "quick start, as root" inside scripts/quickstart.sh
  step "quick start, a second time" inside scripts/quickstart.sh
  step "build without network" build_offline
  [ -z "$tests" ] || step "scripts/test.sh host" inside scripts/test.sh host
  step "quick start, as a user with sudo" run_as_user
  say "=== prove_fresh: all passed"
  printf '%s\n' "${report[@]}" >&2
}

system=debian tests=
for word in "$@"; do
  case $word in
    --test) tests=yes ;;
    --ubuntu) system=ubuntu release=noble ;;
    --inside-namespace) ;;
    *) die "knows only --test and --ubuntu" ;;
  esac
done
if [ "${1:-}" = --inside-namespace ]; then
  main
else
  exec unshare --mount --propagation private "$0" --inside-namespace "$@"
fi
