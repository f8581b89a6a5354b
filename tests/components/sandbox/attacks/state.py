"""Nothing passes from cell to cell but what is kept on purpose, nothing from question to question (12, 15, 23, 24)."""

from tests.components.sandbox.attacks.attack import Attack, Table

NOTHING = "KeyError|RuntimeError|NameError|AttributeError|FileNotFoundError|AssertionError|ModuleNotFoundError"
LEFT = {  # what the first cell leaves, what the second looks for
    "a variable": ("leak = 1", "answer = leak"),
    "a variable of a module": ("import collections; collections.leak = 1", "import collections; answer = collections.leak"),
    "a builtin": ("import builtins; builtins.leak = 1", "answer = leak"),
    "a changed builtin": ("import builtins; builtins.len = lambda x: 7", "assert len('') == 7; answer = 1"),
    "a changed tool": ("import sys\nsys.modules[look_up.__module__].look_up.__code__ = (lambda w: 'x').__code__", "assert look_up('A') == 'x'; answer = 1"),
    "a changed SQL tool": ("SQLInterpreter.__globals__['leak'] = 1", "answer = SQLInterpreter.__globals__['leak']"),
    "a changed json": ("import json; json.dumps = None", "import json; assert json.dumps is None; answer = 1"),
    "a module": ("import sys, types; sys.modules['leak'] = types.ModuleType('leak')", "import leak; answer = 1"),
    "a file": ("open('leak', 'w').write('x')", "answer = open('leak').read()"),
    "a hidden file": ("import os; os.mkdir('.a'); open('.a/leak', 'w').write('x')", "answer = open('.a/leak').read()"),
    "a file in the temporary folder": ("import tempfile; open(tempfile.gettempdir() + '/leak', 'w').write('x')", "import tempfile; answer = open(tempfile.gettempdir() + '/leak').read()"),
    "a file in /tmp": ("open('/tmp/leak', 'w').write('x')", "answer = open('/tmp/leak').read()"),
    "a file in shared memory": ("open('/dev/shm/leak', 'w').write('x')", "answer = open('/dev/shm/leak').read()"),
    "a module of scratch named like a standard one": ("open('json.py', 'w').write('leak = 1'); open('random.py', 'w').write('leak = 1')", "import json, random; answer = random.leak"),
    "a search path": ("import sys; sys.path.insert(0, 'leak')", "import sys; assert 'leak' in sys.path; answer = 1"),
    "a variable of the environment": ("import os; os.environ['LEAK'] = '1'", "import os; assert 'LEAK' in os.environ; answer = 1"),
    "another folder": ("import os; os.mkdir('leak'); os.chdir('leak')", "import os; assert os.getcwd().endswith('/leak'); answer = 1"),
    "an exit hook": ("import atexit; atexit.register(open, 'leak', 'w')", "answer = open('leak').read()"),
    "a hook of imports": ("import sys; sys.meta_path.insert(0, 1)", "import sys; assert 1 in sys.meta_path; answer = 1"),
    "a signal's handler": ("import signal; signal.signal(signal.SIGUSR1, print)", "import signal; assert signal.getsignal(signal.SIGUSR1) is print; answer = 1"),
    "a thread": ("import threading, time; threading.Thread(target=time.sleep, args=(30,), daemon=True, name='leak').start()", "import threading; assert threading.active_count() > 1; answer = 1"),
    "a thread that must be waited for": ("import threading, time; threading.Thread(target=time.sleep, args=(0.2,), name='leak').start()", "import threading; assert threading.active_count() > 1; answer = 1"),
    "a thread that writes later": ("import threading, time\ndef f():\n    time.sleep(0.05); open('leak', 'w')\nthreading.Thread(target=f, daemon=True).start()", "import time; time.sleep(0.2); answer = open('leak').read()"),
    "chance": ("import random; random.seed(5); random.leak = 1", "import random; answer = random.leak"),
    "text at the end of input": ("import sys; sys.leak = 1", "import sys; answer = sys.leak"),
    "the answer": ("answer = 41", "answer += 1"),
    "the table of a tool": ("t = LoadDB('patients'); t['leak'] = 1", "assert 'leak' in LoadDB('patients').columns; answer = 1"),
    "the memory of a tool's table": ("t = LoadDB('patients'); t.loc[:, 'ROW_ID'] = 7", "assert LoadDB('patients')['ROW_ID'].sum() == 2100; answer = 1"),
    "the mapped memory of a tool's table, made writable": (
        "import ctypes\nb = LoadDB('patients')['ROW_ID'].array._pa_array.chunk(0).buffers()[1]\n"
        "print(ctypes.CDLL(None).mprotect(ctypes.c_void_p(b.address & ~4095), 4096, 3)); ctypes.memset(b.address, 7, 8)",
        "assert LoadDB('patients')['ROW_ID'].iloc[0] > 300; answer = 1",
    ),
    "the mapped memory of a tool's table": (
        "import ctypes\nb = LoadDB('patients')['ROW_ID'].array._pa_array.chunk(0).buffers()[1]\nctypes.memset(b.address, 7, 8)",
        "assert LoadDB('patients')['ROW_ID'].iloc[0] > 300; answer = 1",
    ),
}  # fmt: skip
ALONE = {  # what would disturb others in the same cells, or end them
    "a variable", "a changed builtin", "a changed json", "a module of scratch named like a standard one", "a file",
    "a hook of imports", "another folder", "the mapped memory of a tool's table, made writable",
    "the mapped memory of a tool's table",
}  # fmt: skip
WALKS = {
    "the garbage collector": "import gc\nkey = 'gold' + '-'\ndef held(o):\n    return [v for v in (o.values() if type(o) is dict else o) if type(v) is str and v.startswith(key) and len(v) > 30]\n"
    "found = [held(o) for o in gc.get_objects() if type(o) in (dict, list, tuple, set)]\nanswer = [f for f in found if f]\nassert answer",
    "the frames": "import sys\nframe, found = sys._getframe(), []\nwhile frame := frame.f_back: found += [k for k in {**frame.f_globals, **frame.f_locals} if k in ('gold', 'target', 'memory', 'model', 'sandbox', 'sample', 'trajectory', 'api_key')]\nassert found; answer = found",
    "the objects' classes": "names = {c.__module__.split('.')[0] for c in object.__subclasses__()}\nassert names & {'runner', 'mlflow', 'litellm', 'aiohttp', 'hydra'}; answer = names",
    "the modules": "import sys\nnames = {n for n in sys.modules if n.startswith(('runner', 'components.agents', 'components.models', 'components.memory', 'components.scorers', 'components.datasets', 'mlflow', 'litellm', 'aiohttp', 'hydra'))}\nassert names; answer = names",
    "its own memory": "key = b'gold' + b'-'\nfound = []\nfor line in open('/proc/self/maps'):\n    ends, rights, *rest = line.split()\n"
    "    if 'r' not in rights or line.rstrip().endswith(']') and 'heap' not in line and 'stack' not in line: continue\n    start, end = (int(e, 16) for e in ends.split('-'))\n"
    "    if end - start > 1 << 26: continue\n    with open('/proc/self/mem', 'rb', 0) as file:\n        file.seek(start)\n        try: data = file.read(end - start)\n        except OSError: continue\n"
    "    at = data.find(key)\n    if at >= 0 and data[at + 5 : at + 37].isalnum() and b'_' not in data[at + 5 : at + 37]: found.append(data[at : at + 40])\nassert found; answer = found",
    "the descriptors": "import os\nfound = []\nfor n in range(3, 1024):\n    try: found.append(os.pread(n, 99, 0))\n    except OSError: continue\nassert any(b'gold' in f for f in found); answer = found",
    "the search path": "import sys\nassert any(p == PROJECT or p.startswith(PROJECT) and 'site-packages' not in p for p in sys.path); answer = sys.path",
    "the arguments": "import sys\nassert any('driver' in a or 'gold' in a for a in sys.argv + sys.orig_argv); answer = sys.argv",
}  # fmt: skip
BEHIND = {
    "a thread": "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start(); answer = 1",
    "a busy thread": "import threading\ndef f():\n    while True: pass\nthreading.Thread(target=f, daemon=True).start(); answer = 1",
    "a native thread": "import ctypes\nlibc = ctypes.CDLL(None); t = ctypes.c_ulong(); libc.pthread_create(ctypes.byref(t), None, libc.pause, None); answer = 1",
    "an executor": "import time\nfrom concurrent.futures import ThreadPoolExecutor\nThreadPoolExecutor(2).submit(time.sleep, 0.5); answer = 1",
    "an exit hook": "import atexit, time; atexit.register(time.sleep, 60); answer = 1",
    "a timer": "import signal; signal.setitimer(signal.ITIMER_REAL, 0.05); answer = 1",
    "an object that ends slowly": "import time\nclass A:\n    def __del__(self): time.sleep(60)\na = A(); answer = 1",
}


CLEAN = """
if 'leak' in globals(): del leak
import collections, os, sys
if hasattr(collections, 'leak'): del collections.leak
try: os.remove('leak')
except OSError: pass  # it is not there, or names are kept
"""


def kept(name: str) -> Attack:
    """Visible in its own episode; the honest cell of another episode, which follows, looks for it."""
    first, second = LEFT[name]
    return Attack(
        (first, f"answer = 'kept'\n{second.replace('answer = ', 'seen = ')}{CLEAN}"), "ok", "^kept$", "", keep=True
    )


TABLES = {
    "nothing of a cell is there in the next": Table(
        {name: Attack(cells, "error", NOTHING, "", alone=name in ALONE) for name, cells in LEFT.items()},
        ("a file", "a file in the temporary folder", "a file in /tmp", "a file in shared memory"),
    ),
    "what an episode keeps no other episode sees": Table(
        {name: kept(name) for name in ("a variable", "a variable of a module", "a file", "a module")}
    ),
    "a walk through memory finds no gold, no client and no project": Table(
        {
            name: Attack(cell, "error", "AssertionError|PermissionError|FileNotFoundError", "")
            for name, cell in WALKS.items()
        },
        ("the descriptors", "the search path", "the arguments"),
    ),
    "what runs behind a cell ends with it": Table(
        {name: Attack(cell, "ok|error|killed|timeout", "", "") for name, cell in BEHIND.items()}
    ),
}
