# shellcheck shell=sh
# Bare systems of Debian for builds and tests: . debian.sh. They are made by debootstrap from the mirror that apt of this computer uses, and kept in a
# tar file, so that the second one takes seconds. Needs root. Functions return 1, and say why in $why, where there is no way.
why=""

# A mirror of this computer's apt whose address ends in WORD.
debian_mirror() { # WORD
  sed -n "s/^URIs: *\(http[^ ]*\/$1\/\?\) *\$/\1/p; s/^deb \(http[^ ]*\/$1\/\?\) .*/\1/p" /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null | head -n 1
}

# A system of RELEASE with PACKAGES in the empty folder ROOT; KEPT: the tar file.
debian_make() { # ROOT RELEASE KEPT [PACKAGES...]
  debian_root=$1 debian_release=$2 debian_kept=$3
  shift 3
  [ "$(id -u)" = 0 ] || { why="not root"; return 1; }
  if [ -e "$debian_kept" ]; then
    tar -C "$debian_root" -xf "$debian_kept" && chmod 755 "$debian_root" && return 0
  fi
  chmod 755 "$debian_root"
  command -v debootstrap >/dev/null || { why="no debootstrap"; return 1; }
  debian_from=$(debian_mirror debian)
  [ -n "$debian_from" ] || { why="apt names no mirror"; return 1; }
  mkdir -p "$(dirname "$debian_kept")"
  debootstrap --variant=minbase "$debian_release" "$debian_root" "$debian_from" >"$debian_kept.log" 2>&1 ||
    { why="debootstrap fails here: $(tail -n 1 "$debian_kept.log")"; return 1; }
  cp /etc/resolv.conf "$debian_root/etc/resolv.conf" 2>/dev/null
  if [ $# -gt 0 ]; then
    debian_fixes=$(debian_mirror debian-security)
    case "$*" in *:arm64*) debian_fixes="" && debian_inside "$debian_root" dpkg --add-architecture arm64 ;; esac # fixes are kept for amd64 alone
    [ -z "$debian_fixes" ] || echo "deb $debian_fixes $debian_release-security main" >"$debian_root/etc/apt/sources.list.d/security.list"
    { debian_inside "$debian_root" apt-get update && debian_inside "$debian_root" apt-get install -y --no-install-recommends "$@"; } \
      >>"$debian_kept.log" 2>&1 || { why="packages cannot be installed: $(tail -n 1 "$debian_kept.log")"; return 1; }
    debian_inside "$debian_root" apt-get clean
  fi
  tar -C "$debian_root" -cf "$debian_kept.part" . && mv "$debian_kept.part" "$debian_kept"
}

# A command in it, as root; and as somebody without rights, with /proc, no network, and nothing of this computer's environment.
debian_inside() { # ROOT COMMAND...
  debian_root=$1
  shift
  env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive chroot "$debian_root" "$@"
}
debian_as_user() { # ROOT COMMAND...
  debian_root=$1
  shift
  # shellcheck disable=SC2016
  unshare --mount --net sh -c 'root=$1; shift; mount -t proc proc "$root/proc"
    exec chroot --userspec=1000:1000 --groups= "$root" env -i HOME=/home/user PATH=/usr/bin:/bin LC_ALL=C "$@"' sh "$debian_root" "$@"
}
debian_add_user() { # ROOT
  mkdir -p "$1/home/user" && chown 1000:1000 "$1/home/user" && echo 'user:x:1000:1000::/home/user:/bin/sh' >>"$1/etc/passwd"
}
