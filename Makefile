# The front door. Everything here works on a fresh Debian 12 machine; CMake, Ninja and CTest do the work.
.DEFAULT_GOAL := all
.PHONY: all demo test gate traits bench fuzz ptx docs format packages test-packages clean

JOBS ?= $(shell nproc)

all: packages                ## build the release program at build/redoubt
	cmake --preset release
	cmake --build build -j $(JOBS)

demo: all                    ## break two programs, without and with ECC, compare, write the page
	tools/demo.sh build/redoubt

test: test-packages          ## gate, every test in release, under ASan and UBSan, built by clang, and a fuzz smoke run
	JOBS=$(JOBS) tools/test.sh

gate: test-packages all      ## format, layers, sizes, globals, forbidden calls, headers, generated docs
	tools/gate/run.sh build

traits: all                  ## the workloads' traits at their default sizes: some minutes
	build/redoubt list workloads --traits

bench: all                   ## the speeds that the README names
	bench/run.sh build/redoubt

fuzz: test-packages          ## fuzz parsers and decoders; SECONDS=600 each by default
	tools/fuzz.sh $(or $(SECONDS),600)

ptx: test-packages           ## compile the workloads' CUDA kernels to PTX with clang
	tools/ptx.sh

docs: all                    ## write the generated pages of docs/
	tools/docs.sh build/redoubt docs

format:                      ## clang-format every source file
	git ls-files -z 'src/*.[ch]' 'workloads/*.[ch]' 'tests/*.[ch]' 'bench/*.[ch]' 'src/*.inc' | xargs -0 clang-format -i

packages:
	tools/packages.sh build

test-packages:
	tools/packages.sh build test

clean:
	rm -rf build build-*
