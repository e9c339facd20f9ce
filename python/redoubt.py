"""Redoubt from Python: run GPU programs on a simulated GPU, break it on purpose, and read what that did.

One file, no dependency but libredoubt itself (src/lib/redoubt.h), which is found beside this file, in the build folder, where
an installation puts it, or where the variable REDOUBT_LIBRARY says.

    import redoubt
    machine = redoubt.Machine("fermi-gtx480", protect=["secded:rf"])
    program = machine.workload("scalarprod", size="small")
    print(program.run().cycles)
    print(program.inject("flip:rf[sm=0,warp=0,reg=2,lane=7,bit=4]@700").name)
    results = program.campaign("plain.db", structures="rf", faults=1000)
    print(results.share("sdc"))
"""

import array
import collections
import contextlib
import ctypes
import operator
import os
import threading

__all__ = ["Error", "Machine", "Program", "Results", "machines", "workloads", "version"]

_TYPES = {  # of PTX -> array's code
    "u8": "B", "s8": "b", "u16": "H", "s16": "h", "u32": "I", "s32": "i", "u64": "Q", "s64": "q", "f32": "f", "f64": "d",
    "f16": "H", "bf16": "H",  # as their bits: array has no half
}


class Error(Exception):
    """What the library says, in one line."""


# ---- The interface of src/lib/redoubt.h ------------------------------------------------------------------------------

class _Error(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char * 1024)]


class _Structure(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("title", ctypes.c_char_p), ("meaning", ctypes.c_char_p), ("bits", ctypes.c_uint64),
                ("can_be_protected", ctypes.c_bool)]


class _Argument(ctypes.Structure):
    _fields_ = [("type", ctypes.c_char_p), ("name", ctypes.c_char_p), ("data", ctypes.c_void_p), ("count", ctypes.c_uint64)]


class _Launch(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("kernel", ctypes.c_char_p), ("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3),
                ("dynamic_shared_bytes", ctypes.c_uint32), ("arguments", ctypes.POINTER(_Argument)), ("argument_count", ctypes.c_uint32)]


class _Run(ctypes.Structure):
    _fields_ = [("cycles", ctypes.c_uint64), ("thread_instructions", ctypes.c_uint64), ("warp_instructions", ctypes.c_uint64),
                ("launches", ctypes.c_uint32), ("trapped", ctypes.c_bool), ("passed", ctypes.c_bool), ("note", ctypes.c_char_p)]


class _Output(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("data", ctypes.c_void_p), ("count", ctypes.c_uint64),
                ("width", ctypes.c_uint64)]


class _Outcome(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("group", ctypes.c_char_p), ("meaning", ctypes.c_char_p), ("note", ctypes.c_char_p),
                ("why", ctypes.c_char_p), ("cycles", ctypes.c_uint64), ("fault_free_cycles", ctypes.c_uint64),
                ("wrong_elements", ctypes.c_uint64), ("largest_error", ctypes.c_double)]


_PROGRESS = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64)


class _Campaign(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("journal", ctypes.c_char_p), ("structures", ctypes.c_char_p), ("model", ctypes.c_char_p),
                ("window", ctypes.c_char_p), ("faults", ctypes.c_uint64), ("margin", ctypes.c_double), ("confidence", ctypes.c_double),
                ("seed", ctypes.c_uint64), ("jobs", ctypes.c_uint32), ("progress", _PROGRESS), ("context", ctypes.c_void_p)]


class _Fault(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint64), ("fault", ctypes.c_char_p), ("structure", ctypes.c_char_p), ("outcome", ctypes.c_char_p),
                ("group", ctypes.c_char_p), ("note", ctypes.c_char_p), ("cycle", ctypes.c_uint64), ("wrong_elements", ctypes.c_uint64),
                ("largest_error", ctypes.c_double)]


class _Share(ctypes.Structure):
    _fields_ = [("count", ctypes.c_uint64), ("total", ctypes.c_uint64), ("share", ctypes.c_double), ("low", ctypes.c_double),
                ("high", ctypes.c_double)]


def _load():
    here = os.path.dirname(os.path.abspath(__file__))
    name = "libredoubt.so.0"
    places = [os.environ.get("REDOUBT_LIBRARY"), os.path.join(here, name), os.path.join(here, "..", "build", name),
              os.path.join(here, "..", "..", name), name]  # the third: an installation's lib/
    tried = []
    for place in filter(None, places):
        if os.path.isabs(place) and not os.path.exists(place):
            continue
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            tried.append(str(error))
    raise ImportError("libredoubt.so.0 was not found; REDOUBT_LIBRARY may say where it is. " + " ".join(tried))


def _declare(library):
    pointer, text, error, boolean = ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(_Error), ctypes.c_bool
    ref = ctypes.POINTER
    functions = {
        "version": (text, []),
        "machine_open": (pointer, [text, error]),
        "machine_close": (None, [pointer]),
        "machine_set": (boolean, [pointer, text, text, error]),
        "machine_protect": (boolean, [pointer, text, error]),
        "machine_structures": (ref(_Structure), [pointer, ref(ctypes.c_uint32), error]),
        "builtin_machine": (text, [ctypes.c_uint32]),
        "builtin_workload": (text, [ctypes.c_uint32]),
        "workload_open": (pointer, [pointer, text, text, text, ctypes.c_uint64, error]),
        "ptx_open": (pointer, [pointer, text, text, ref(_Launch), error]),
        "program_close": (None, [pointer]),
        "run": (boolean, [pointer, ref(_Run), error]),
        "output_count": (ctypes.c_uint32, [pointer]),
        "output": (boolean, [pointer, ctypes.c_uint32, ref(_Output)]),
        "inject": (boolean, [pointer, text, boolean, ref(_Outcome), error]),
        "campaign": (ctypes.c_int, [pointer, ref(_Campaign), error]),
        "results_open": (pointer, [text, error]),
        "results_close": (None, [pointer]),
        "results_complete": (boolean, [pointer]),
        "results_next": (boolean, [pointer, ref(_Fault), error]),
        "results_rewind": (None, [pointer]),
        "results_share": (boolean, [pointer, text, text, ctypes.c_double, ref(_Share), error]),
    }
    for name, (result, arguments) in functions.items():
        function = getattr(library, "redoubt_" + name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _declare(_load())


def _call(name, *arguments):
    """Calls what ends with an error; raises it. The result otherwise."""
    error = _Error()
    result = getattr(_library, "redoubt_" + name)(*arguments, ctypes.byref(error))
    if error.text:
        raise Error(error.text.decode(errors="replace"))  # it may be cut inside a character
    return result


def _bytes(text):
    """As C reads it: up to a NUL, of which there may be none. None is C's NULL."""
    if text is None:
        return None
    data = os.fsencode(text)
    if b"\0" in data:
        raise Error(f"{text!r} holds a NUL character")
    return data


def _whole(name, value, bits):
    """A number that C takes as it is; ctypes alone would drop what is beyond its bits."""
    number = operator.index(value)
    if not 0 <= number < 1 << bits:
        raise Error(f"{name} {number}: must be a whole number from 0 to {(1 << bits) - 1}")
    return number


def _text(value):
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _tuple(kind, values, **more):
    fields = {name: _text(getattr(values, name)) for name, _ in values._fields_ if name in kind._fields}
    return kind(**fields, **more)


# ---- For callers -------------------------------------------------------------------------------------------------------

Structure = collections.namedtuple("Structure", "name title meaning bits can_be_protected")
Run = collections.namedtuple("Run", "cycles thread_instructions warp_instructions launches trapped passed note outputs")
Outcome = collections.namedtuple(
    "Outcome", "name group meaning note why cycles fault_free_cycles wrong_elements largest_error")
Fault = collections.namedtuple("Fault", "id fault structure outcome group note cycle wrong_elements largest_error")
Share = collections.namedtuple("Share", "count total share low high")

GROUPS = ("masked", "performance", "sdc", "order", "tolerated", "due", "corrected")
DUE_PARTS = ("crash", "hang", "detected")


def version():
    return _library.redoubt_version().decode()


def _names(function):
    names = []
    while (name := function(len(names))) is not None:
        names.append(name.decode())
    return names


def machines():
    """Names of the machines that are built in."""
    return _names(_library.redoubt_builtin_machine)


def workloads():
    """Names of the workloads that are built in."""
    return _names(_library.redoubt_builtin_workload)


class _Handle:
    """A handle of the library, for one call at a time: other threads wait. Its pointer never leaves it."""

    _name, _close = None, None

    def __init__(self):
        raise TypeError(f"a {type(self).__name__} is made by a Machine")

    @classmethod
    def _of(cls, pointer):
        handle = cls.__new__(cls)
        handle._take(pointer)
        return handle

    def _take(self, pointer):
        self._lock, self._user, self._pointer = threading.Lock(), None, pointer

    @contextlib.contextmanager
    def _held(self):
        me = threading.get_ident()
        if self.__dict__.get("_lock") is None:
            raise Error(f"the {self._name} was never opened")
        if self._user == me:
            raise Error(f"the {self._name} is in use: a progress function may not call it")
        with self._lock:
            self._user = me
            try:
                yield self._pointer
            finally:
                self._user = None

    @contextlib.contextmanager
    def _used(self):
        """The pointer, for a call of the library."""
        with self._held() as pointer:
            if pointer is None:
                raise Error(f"the {self._name} is closed")
            yield pointer

    def close(self):
        """Frees it. Whatever is called afterwards raises an Error; closing again does nothing."""
        with self._held() as pointer:
            if pointer is not None:
                self._pointer = None
                getattr(_library, self._close)(pointer)

    def __reduce_ex__(self, _):
        raise TypeError(f"a {type(self).__name__} cannot be copied or pickled")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if self.__dict__.get("_pointer") is not None:  # opened, and not closed
            self.close()


def _argument(place, argument):
    """The values of an argument of a kernel, as an array."""
    if len(argument) not in (2, 3):
        raise Error(f"{place}: must be (type, value) or (type, name, values)")
    kind, values = argument[0], argument[-1]
    if kind not in _TYPES:
        raise Error(f"{place}: type '{kind}' is not known")
    if len(argument) == 2:
        values = [values]
    try:
        data = array.array(_TYPES[kind], values)
    except OverflowError as error:
        raise Error(f"{place}: {error}") from None
    if len(argument) == 3 and len(data) == 0:
        raise Error(f"{place}: an array needs an element")
    return data


class Machine(_Handle):
    """A GPU as a machine file describes it. `settings`: parameters to change; `protect`: schemes to attach."""

    _name, _close = "machine", "redoubt_machine_close"

    def __init__(self, name="fermi-gtx480", settings=None, protect=()):
        self._take(_call("machine_open", _bytes(name)))
        with self._used() as pointer:
            for key, value in (settings or {}).items():
                _call("machine_set", pointer, _bytes(key), _bytes(str(value)))
            for scheme in [protect] if isinstance(protect, str) else protect:
                _call("machine_protect", pointer, _bytes(scheme))

    def structures(self):
        """What faults may strike, by name."""
        count = ctypes.c_uint32()
        with self._used() as pointer:
            items = _call("machine_structures", pointer, ctypes.byref(count))
            return {item.name.decode(): _tuple(Structure, item) for item in items[:count.value]}

    def workload(self, name, size="tiny", seed=1, **params):
        """A built-in workload; `params` are its own, such as n=64."""
        words = " ".join(f"{key}={value}" for key, value in params.items())
        with self._used() as pointer:
            return Program._of(_call("workload_open", pointer, _bytes(name), _bytes(size), _bytes(words), _whole("seed", seed, 64)))

    def ptx(self, text, arguments, kernel=None, grid=1, block=1, shared=0, name="kernel.ptx"):
        """A kernel of PTX text, launched once.

        Each argument is (type, value), such as ("u32", 64), or (type, name, values) of an array, such as
        ("f32", "out", [0.0] * 64): its address is passed, and it is an output.
        """
        items, kept = (_Argument * len(arguments))(), []
        for i, (item, argument) in enumerate(zip(items, arguments)):
            data = _argument(f"argument {i + 1}", argument)
            buffer = (ctypes.c_char * (len(data) * data.itemsize)).from_buffer(data)
            kept.append((data, buffer))
            item.type, item.data = _bytes(argument[0]), ctypes.addressof(buffer)
            item.name, item.count = (_bytes(argument[1]), len(data)) if len(argument) == 3 else (None, 0)
        launch = _Launch(size=ctypes.sizeof(_Launch), kernel=_bytes(kernel), dynamic_shared_bytes=_whole("shared", shared, 32),
                         arguments=items, argument_count=len(arguments))
        for field, sizes in (("grid", grid), ("block", block)):
            sizes = tuple(sizes) if hasattr(sizes, "__iter__") else (sizes,)
            if len(sizes) > 3:
                raise Error(f"{field} {sizes}: has at most three dimensions")
            for i, size in enumerate(sizes):
                getattr(launch, field)[i] = _whole(field, size, 32)
        with self._used() as pointer:
            return Program._of(_call("ptx_open", pointer, _bytes(name), _bytes(text), ctypes.byref(launch)))


class Program(_Handle):
    """Something to run, with its inputs. Made by a Machine."""

    _name, _close = "program", "redoubt_program_close"

    def run(self):
        """A run without faults. `outputs`: arrays by name; halves are given as their bits."""
        run, outputs = _Run(), {}
        with self._used() as pointer:
            _call("run", pointer, ctypes.byref(run))
            for i in range(_library.redoubt_output_count(pointer)):
                output = _Output()
                _library.redoubt_output(pointer, i, ctypes.byref(output))
                values = array.array(_TYPES[output.type.decode()])
                values.frombytes(ctypes.string_at(output.data, output.count * values.itemsize))
                outputs[output.name.decode()] = values
            return _tuple(Run, run, outputs=outputs)

    def inject(self, fault, explain=False):
        """A run with a fault, judged against one without. With `explain`, `why` says where the bit went."""
        outcome = _Outcome()
        with self._used() as pointer:
            _call("inject", pointer, _bytes(fault), bool(explain), ctypes.byref(outcome))
            return _tuple(Outcome, outcome)

    def campaign(self, journal, structures="rf", faults=0, margin=0.0, confidence=0.99, model="flip", window="all", seed=1, jobs=0,
                 progress=None):
        """Injects faults and returns the Results. An unfinished journal is resumed.

        `margin` and `confidence` 0: 0.01 and 0.99; `faults` 0: until the margin is reached; `jobs` 0: as many as there are processors.
        `progress(done, total)` may return False to stop: the results are then incomplete, or None before the first fault.
        """
        stopped = []

        def told(_, done, total):
            try:
                return progress(done, total) is not False
            except BaseException as error:  # must not pass through C; raised below
                stopped.append(error)
                return False

        callback = _PROGRESS(told) if progress is not None else _PROGRESS()
        options = _Campaign(size=ctypes.sizeof(_Campaign), journal=_bytes(journal), structures=_bytes(structures), model=_bytes(model),
                            window=_bytes(window), faults=_whole("faults", faults, 64), margin=margin, confidence=confidence,
                            seed=_whole("seed", seed, 64), jobs=_whole("jobs", jobs, 32) or min(len(os.sched_getaffinity(0)), 256),
                            progress=callback)
        with self._used() as pointer:
            end = _call("campaign", pointer, ctypes.byref(options))
        if stopped:
            raise stopped[0]
        return Results(journal) if end == 0 or os.path.exists(journal) else None


def _faults(results, own):
    """Those of `own`, as long as `results` is open."""
    fault = _Fault()
    with own:
        while True:
            with results._used(), own._used() as pointer:
                if not _call("results_next", pointer, ctypes.byref(fault)):
                    return
                found = _tuple(Fault, fault)
            yield found


class Results(_Handle):
    """The journal of a campaign. Iterate over it for its faults."""

    _name, _close = "journal", "redoubt_results_close"

    def __init__(self, journal):
        self._journal = None if journal is None else os.path.abspath(journal)
        self._take(_call("results_open", _bytes(self._journal)))

    @property
    def complete(self):
        with self._used() as pointer:
            return _library.redoubt_results_complete(pointer)

    def __iter__(self):
        with self._used():
            own = Results(self._journal)  # loops inside each other are each at a fault of their own
        return _faults(self, own)

    def share(self, group, structure=None, confidence=0.99):
        """How many faults of a structure are of a group ("sdc", "due", ...) or of a part of the DUEs ("crash", "hang", "detected"), with Wilson's interval."""
        share = _Share()
        with self._used() as pointer:
            _call("results_share", pointer, _bytes(structure), _bytes(group), confidence, ctypes.byref(share))
            return _tuple(Share, share)

    def shares(self, structure=None, confidence=0.99):
        """The same of every group, by name."""
        return {group: self.share(group, structure, confidence) for group in GROUPS}
