# The front door; CMake, Ninja and CTest do the work. `make` and `make install` take what the computer has and install no packages; all else works on
# a fresh Debian 12 machine, as root: it installs what it needs.
.DEFAULT_GOAL := all
.PHONY: all setup demo install uninstall deb dist release test golden gate traits bench proof reproduce fuzz ptx docs format packages test-packages docs-packages deb-packages clean

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local

all:                         ## build the release program at build/redoubt, with what this computer has: no root, no apt-get
	tools/configure.sh
	cmake --build build -j $(JOBS)

setup: packages              ## on Debian and Ubuntu, as root: install the packages that a build needs

demo: packages all           ## break two programs, without and with ECC, compare, write the page
	tools/demo.sh build/redoubt

install: all                 ## install below PREFIX (default /usr/local); DESTDIR goes before it
	@tools/install.sh build "$(PREFIX)" "$(DESTDIR)"
	@echo "Installed below $(DESTDIR)$(PREFIX).$(if $(DESTDIR),, Type: $(if $(filter $(PREFIX)/bin,$(subst :, ,$(PATH))),,$(PREFIX)/bin/)redoubt help)"

uninstall:                   ## remove what `make install` put below PREFIX (and DESTDIR)
	@tools/uninstall.sh "$(DESTDIR)$(PREFIX)"

deb: deb-packages all        ## a Debian package, build/redoubt_VERSION_ARCHITECTURE.deb
	cd build && cpack -G DEB >cpack.log || { cat cpack.log; exit 1; }
	@echo "Install it with: apt-get install ./$$(ls -t build/redoubt_*.deb | head -n 1)"

dist: test-packages          ## tarballs and Debian packages that need no other package, in build/dist; root, debootstrap, half an hour. ARCHITECTURES="x86_64 aarch64"
	JOBS=$(JOBS) tools/dist.sh build/dist $(ARCHITECTURES)

release:                     ## notes of release VERSION in build/dist, and what is missing for it; sets no tag
	tools/release.sh "$(VERSION)" build/dist

test: test-packages          ## gate, every test under ASan and UBSan, whole programs in release, built by clang, and a fuzz smoke run
	JOBS=$(JOBS) tools/test.sh

golden: all                  ## make the golden record again, after a change that is meant to move numbers (docs/develop/golden.md)
	tests/golden/golden.py update build/redoubt -j $(JOBS)

gate: test-packages all      ## format, layers, sizes, globals, forbidden calls, headers, generated docs
	tools/gate/run.sh build

traits: all                  ## the workloads' traits at their default sizes: some minutes
	build/redoubt list workloads --traits

bench: all                   ## the speeds that the README names
	bench/run.sh build/redoubt

proof: test-packages all     ## the long proofs, up to 6 hours; writes docs/proof.md. PROOFS="NAME ..." for some of them
	cmake --preset release -DREDOUBT_TESTS=ON >/dev/null
	cmake --build build -j $(JOBS) -- --quiet
	tools/proof.sh build/redoubt docs/proof.md $(PROOFS)

reproduce: all               ## every published study again, some hours; goes on where it stopped; writes docs/claims.md
	build/redoubt reproduce all -o build/reproduce -q -j $(JOBS)
	cp build/reproduce/claims.md docs/claims.md

fuzz: test-packages          ## fuzz parsers and decoders, JOBS at a time, with a table at the end; SECONDS=600 each by default
	JOBS=$(JOBS) tools/fuzz.sh $(or $(SECONDS),600)

ptx: test-packages           ## compile the CUDA kernels of workloads and libraries to PTX with clang
	tools/ptx.sh

docs: docs-packages all      ## write the generated pages of docs/, and the site with search: build/site/index.html
	tools/docs.sh build/redoubt docs
	tools/site.sh build/site

format:                      ## clang-format every source file
	git ls-files -z 'src/*.[ch]' 'workloads/*.[ch]' 'tests/*.[ch]' 'bench/*.[ch]' 'src/*.inc' | xargs -0 clang-format -i

packages:
	tools/packages.sh build

test-packages:
	tools/packages.sh build test docs deb
	@tools/packages.sh cluster || echo "No Slurm: the tests of clusters that need it will be skipped."

docs-packages:
	tools/packages.sh build docs

deb-packages:
	tools/packages.sh build deb

clean:
	rm -rf build build-*
