#!/bin/sh
# Makes sure that what must come from the operating system is there: venv for Python, Pango and HarfBuzz for the PDF, poppler and chromium for tests.
# Installs it when it may (root, or sudo without a password); otherwise says exactly what to install, and goes on.
set -u

need=""
# Debian's python3 comes without ensurepip; a pip of the system serves as well.
python3 -c "import ensurepip" 2>/dev/null || python3 -m pip --version >/dev/null 2>&1 || need="$need python3-venv"

has_library() { python3 -c "import ctypes, sys; ctypes.CDLL(sys.argv[1])" "$1" 2>/dev/null; }
has_library libpango-1.0.so.0 || need="$need libpango-1.0-0"
has_library libpangoft2-1.0.so.0 || need="$need libpangoft2-1.0-0"
has_library libharfbuzz-subset.so.0 || need="$need libharfbuzz-subset0"

# pdfsig: another program's word on our signatures, which a test asks for.
command -v pdfsig >/dev/null || need="$need poppler-utils"

# chromium: the layout and accessibility tests of the HTML supplements. Only `make test` needs it; a build (CI) fails without it.
command -v chromium >/dev/null || need="$need chromium"

[ -z "$need" ] && exit 0

run=""
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then run="sudo"; else run="no"; fi
fi
if [ "$run" != "no" ] && command -v apt-get >/dev/null; then
    echo "installing from the operating system:$need"
    if DEBIAN_FRONTEND=noninteractive $run apt-get update -qq >/dev/null &&
        DEBIAN_FRONTEND=noninteractive $run apt-get install -qq -y --no-install-recommends $need >/dev/null; then
        exit 0
    fi
fi

cat >&2 <<TEXT

  Missing from the operating system, and not installed because this user may not:
     sudo apt-get install$need
  Without the Pango and HarfBuzz libraries everything works but PDF (HTML and JSON supplements are made).
  Without poppler-utils one test of signatures is skipped.
  Without chromium the layout tests of HTML supplements are skipped; where CI is set they fail.

TEXT
exit 0
