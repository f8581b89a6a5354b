"""Cells end at their limits of time, memory, processes, files, output and answer (attacks 6 to 11)."""

from dataclasses import replace

from tests.components.sandbox.attacks.attack import THOROUGH, Attack, Table

TIMES, DEEP = (1 << 10, 99) if THOROUGH else (1 << 7, 4)  # megabytes, folders
MEMORY = "MemoryError|OverflowError|Cannot allocate|Limit|limit|ArrowMemoryError"


def bomb(cell: str) -> Attack:
    return Attack(f"{cell}\nanswer = 'all of it'", status="error|killed|timeout", says=MEMORY, bare="")


BOMBS = {
    "a growing list": bomb("held = [0]\nwhile True: held += held"),
    "one huge text": bomb("held = 'x' * (1 << 34)"),
    "many texts": bomb("held = []\nfor i in range(10**4): held.append(bytearray(1 << 24))"),
    "a huge power": Attack("answer = len(str(9 ** 9 ** 9))", "error|killed|timeout", ".", "", hasty=True),
    "a huge shift": bomb("held = 1 << (1 << 36)"),
    "nested decompression": bomb(
        "import zlib\nheld = zlib.compress(bytes(1 << 24))\nfor _ in range(3): held = zlib.compress(held)\n"
        "held = zlib.decompress(zlib.decompress(zlib.decompress(zlib.decompress(held)))) * 1000"
    ),
    "a huge table": bomb("import pandas; held = pandas.DataFrame({'a': range(10**9)})[['a', 'a', 'a', 'a']].copy()"),
    "a huge array": bomb("import numpy; held = numpy.ones(1 << 30)"),
    "memory mapped by no one": bomb("import mmap; held = [mmap.mmap(-1, 1 << 28) for _ in range(64)]\nfor m in held: m.write(bytes(1 << 28))"),
    "memory in a file without a place": Attack(
        "import os\nfile = os.memfd_create('x')\nfor _ in range(3 << 6): os.write(file, bytes(1 << 24))\nanswer = 'all'",
        says="PermissionError|Function not implemented|File too large", bare="",
    ),
    "memory in shared segments": Attack(
        "for _ in range(30): syscall('shmget', 0, 1 << 27, 0o600)\nanswer = 'all'",
        says="PermissionError|Function not implemented", bare="",
    ),
    "memory in pipes": Attack(
        "import fcntl, os\nheld = []\nwhile len(held) < 2000:\n    held.append(os.pipe()); fcntl.fcntl(held[-1][1], 1031, 1 << 20)\n    os.write(held[-1][1], bytes(1 << 20))\nanswer = 'all'",
        says="OSError|PermissionError", bare="", alone=True,
    ),
    "memory in four processes": Attack(
        "import os\nfor _ in range(4):\n    if not os.fork(): held = bytearray(1 << 29); os._exit(0)\nanswer = 'all'",
        says="PermissionError|BlockingIOError", bare="",
    ),
}  # fmt: skip
ENDLESS = {
    "a loop": "while True: pass",
    "a loop that catches everything": "while True:\n    try:\n        while True: 1 / 0\n    except BaseException: pass",
    "a loop deaf to signals": "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nsignal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nwhile True: pass",
    "a sleep": "import time; time.sleep(3600)",
    "a sleep in native code": "import ctypes; ctypes.CDLL(None).sleep(3600)",
    "a stop": "import os, signal\nwhile True: os.kill(os.getpid(), signal.SIGSTOP)",
    "a regular expression": "import re; re.match('(a+)+$', 'a' * 60 + 'b')",
    "a lock": "import threading; l = threading.Lock(); l.acquire(); l.acquire()",
    "a read of nothing": "import os; r, w = os.pipe(); os.read(r, 1)",
    "a thread that never ends, where there are threads": "import threading\ndef f():\n    while True: pass\ntry: threading.Thread(target=f).start()\nexcept RuntimeError: f()",
    "an iteration": "sum(iter(int, 1))",
    "an exit hook": "import atexit, time; atexit.register(time.sleep, 3600); time.sleep(3600)",
    "a nameless end": "class A:\n    def __del__(self):\n        while True: pass\na = A()\ndel a",
    "a sort": "class A:\n    def __lt__(self, other):\n        while True: pass\nsorted([A(), A()])",
    "a native computation": "9 ** (10 ** 9)",
}
PROCESSES = {
    "fork bomb": Attack("import os\nwhile True: os.fork()", "error|killed", "PermissionError|BlockingIOError", "", alone=True),
    "fork bomb that continues": Attack(
        "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass", "timeout|killed", "", "", hasty=True
    ),
    "double fork in a new session": Attack(
        "import os, time\nif not os.fork():\n    os.setsid()\n    if not os.fork():\n        time.sleep(60)\n    os._exit(0)\nanswer = 1",
        says="PermissionError|BlockingIOError", bare="",
    ),
    "thread bomb": Attack(
        "import threading, time\nfor _ in range(10000): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nanswer = 'all'",
        "error|killed|timeout", "RuntimeError|MemoryError", "", hasty=True,
    ),
    "thread bomb of small stacks": Attack(
        "import threading, time\nthreading.stack_size(32768)\nfor _ in range(10000): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nanswer = 'all'",
        "error|killed|timeout", "RuntimeError|MemoryError", "", hasty=True,
    ),
    "thread bomb that continues": Attack(
        "import _thread, time\ndef f():\n    while True:\n        try: _thread.start_new_thread(f, ())\n        except RuntimeError: time.sleep(0.001)\nf()",
        "killed|timeout|error", ".", "", hasty=True,
    ),
}  # fmt: skip
HELD = "import ctypes, os\nhold = ctypes.CDLL(None).mmap; hold.restype = ctypes.c_void_p\n"  # keeps no descriptor
FILES = {
    "an endless file": Attack(
        "with open('big', 'wb') as file:\n    while True: file.write(bytes(1 << 20))", "error|killed", "OSError|too large", ""
    ),
    "a sparse file": Attack("with open('big', 'wb') as file: file.truncate(1 << 40)\nanswer = 1", "error|killed", "OSError", ""),
    "a reserved file": Attack(
        "import os; os.posix_fallocate(os.open('big', os.O_CREAT | os.O_RDWR), 0, 1 << 33); answer = 1", "error|killed", "OSError", ""
    ),
    "many files of the largest size": Attack(
        "for n in range(400):\n    with open(str(n), 'wb') as file: file.write(bytes(1 << 19))\nanswer = 'all'",
        "error|killed|timeout", "OSError|No space|quota", "",
    ),
    "a million files": Attack(
        "for n in range(10**6): open(str(n), 'w').close()\nanswer = 'all'", "error|killed|timeout", "OSError|No space|quota", "", hasty=True
    ),
    "folders in folders": Attack(
        "import os\nfor n in range(10**6): os.mkdir('d'); os.chdir('d')\nanswer = 'all'", "error|killed|timeout", "OSError|No space|quota", "", hasty=True
    ),
    "files wherever they can be written": Attack(
        f"import os\ntotal = 0\nfor root, folders, files in os.walk('/'):\n    if root.startswith(('/proc', '/sys')): folders.clear(); continue\n    if root.count('/') > {DEEP}: folders.clear()\n"
        "    for n in range(40):\n        try:\n            with open(f'{root}/fill{n}', 'wb') as file: total += file.write(bytes(1 << 20))\n        except OSError: break\n"
        "assert total <= 8 << 20, total\nanswer = 'little'",
        "ok|killed|error", "little|No space", "", 
    ),
    "nameless files held by their mappings": Attack(
        f"{HELD}for n in range(400):\n    file = os.open('big', os.O_CREAT | os.O_RDWR); os.remove('big')\n"
        "    for _ in range(8): assert os.write(file, bytes(1 << 17)) == 1 << 17\n    hold(None, 4096, 1, 1, file, 0); os.close(file)\nanswer = 'all'",
        "error|killed", "No space|quota|PermissionError|AssertionError", "",
    ),
    "files made without a name": Attack(
        f"{HELD}for n in range(400):\n    file = os.open('.', os.O_TMPFILE | os.O_RDWR)\n"
        "    for _ in range(8): assert os.write(file, bytes(1 << 17)) == 1 << 17\n    hold(None, 4096, 1, 1, file, 0); os.close(file)\nanswer = 'all'",
        "error|killed", "No space|quota|PermissionError|AssertionError", "",
    ),
    "nameless files replaced by others": Attack(
        f"{HELD}for n in range(400):\n    file = os.open('new', os.O_CREAT | os.O_RDWR); os.rename('new', 'old')\n"
        "    for _ in range(8): assert os.write(file, bytes(1 << 17)) == 1 << 17\n    hold(None, 4096, 1, 1, file, 0); os.close(file)\nanswer = 'all'",
        "error|killed", "No space|quota|PermissionError|AssertionError", "",
    ),
    "many descriptors": Attack(
        "import os\nfor n in range(10**5): os.dup(0)\nanswer = 'all'", "error|killed", "OSError|Too many", ""
    ),
    "links and rights that hinder cleaning": Attack(
        "import os\nos.makedirs('a/b/c'); os.symlink(GROUND + '/canary', 'a/link'); os.symlink('/', 'a/root'); os.symlink('a', 'loop')\n"
        "open(b'a/\\xff\\n', 'w').close(); os.mkfifo('a/pipe')\nfor d in ('a/b/c', 'a/b', 'a', '.'):\n"
        "    try: os.chmod(d, 0)\n    except OSError: pass\nanswer = 'done'",
        "ok|error", "done|PermissionError", "",
    ),
    "its scratch folder in place of the canary": Attack(
        "import os\nhere = os.getcwd(); os.chdir('/'); os.rmdir(here); os.symlink(GROUND + '/canary', here); answer = 'done'",
        "ok|error", "done|OSError|PermissionError|busy", "",
    ),
}  # fmt: skip
OUTPUT = {
    "much output": Attack(
        f"for _ in range({TIMES}): print('x' * (1 << 20))\nanswer = 'done'", "ok|killed|timeout|too_large|error", ".", ""
    ),
    "endless output past Python": Attack(
        "import os\nwhile True: os.write(1, b'x' * 65536)", "killed|timeout|too_large|error", ".", "", hasty=True
    ),
    "endless complaints": Attack(
        "import os\nwhile True: os.write(2, b'x' * 65536)", "killed|timeout|too_large|error", ".", "", hasty=True
    ),
    "control characters, lone surrogates and no text at all": Attack(
        "import os\nprint('\\x1b[2J\\0\\udcff', flush=True) if False else os.write(1, b'\\xff\\xfe\\0\\x1b[2J')\nanswer = 'done'", "ok|error", ".", ""
    ),
    "output without output": Attack("import os; os.close(1); os.close(2); print('x'); answer = 'done'", "ok|error", ".", ""),
}  # fmt: skip
ANSWERS = {
    "a text of a gigabyte": Attack("answer = 'x' * (1 << 30)", "too_large|error|killed", "Memory", ""),
    "a text of a megabyte": Attack("answer = 'x' * (1 << 20)", "too_large", "", ""),
    "a text of many bytes to the letter": Attack("answer = '\\U0001f600' * 40000", "too_large", "", ""),
    "a list of lists of lists": Attack("answer = [0]\nfor _ in range(40): answer = [answer, answer]", "too_large|timeout|error|killed", "Memory|Recursion", "", hasty=True),
    "a conversion without end": Attack(
        "class A:\n    def __str__(self):\n        while True: pass\nanswer = A()", "timeout", "", "", hasty=True
    ),
    "a conversion that raises": Attack("class A:\n    def __str__(self): raise KeyError('no')\nanswer = A()", "error", "KeyError", ""),
    "a conversion that leaves": Attack("import os\nclass A:\n    def __str__(self): os._exit(0)\nanswer = A()", "error|killed", ".?", ""),
    "a conversion that exits": Attack("class A:\n    def __str__(self): raise SystemExit\nanswer = A()", "error", ".?", ""),
    "a conversion that is not a text": Attack("class A:\n    def __str__(self): return 5\nanswer = A()", "error", "TypeError", ""),
    "a conversion that prints": Attack("class A:\n    def __str__(self): print('{}'); return 'a'\nanswer = A()", "ok", "^a$", ""),
    "a conversion that is more than a text": Attack(
        "class S(str):\n    def encode(self, *a): return b'x' * (1 << 30)\n    def __len__(self): return 1\nclass A:\n    def __str__(self): return S('plain')\nanswer = A()",
        "ok|error", "plain|Error", "",
    ),
    "an error whose text is without end": Attack(
        "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E", "timeout|error", ".?", "", hasty=True
    ),
    "an error whose text is an error": Attack("class E(Exception):\n    def __str__(self): raise self\nraise E", "error", "E|Protocol", ""),
    "an error with a text of a megabyte": Attack("raise ValueError('x' * (1 << 20))", "error|too_large", "ValueError", ""),
    "an error with a kind that is not a text": Attack("e = ValueError('x'); e.kind = [1]; raise e", "error", "ValueError", ""),
    "an error with a name of a megabyte": Attack("raise type('E' * (1 << 20), (Exception,), {})", "error|too_large", "E", ""),
    "an error of many errors": Attack("raise ExceptionGroup('many', [ValueError(str(n)) for n in range(9999)])", "error|too_large", "many", ""),
    "an error caused by itself": Attack(
        "e = None\nfor n in range(20000):\n    f = ValueError(n); f.__cause__ = e; e = f\nraise e", "error|too_large|killed", "ValueError|Recursion", ""
    ),
    "an error with lone surrogates": Attack("raise ValueError('\\ud800')", "error", "ValueError", ""),
    "a list that holds itself": Attack("answer = []; answer.append(answer)", "ok", r"^\[\[\.\.\.\]\]$", ""),
    "a function": Attack("answer = lambda: 0", "ok", "lambda", ""),
    "no number": Attack("answer = float('nan')", "ok", "^nan$", ""),
    "lone surrogates": Attack("answer = '\\ud800'", "ok|error", ".", ""),
    "a number of too many digits": Attack("answer = 10 ** 10000", "error", "ValueError", ""),
}  # fmt: skip


TABLES = {
    "every bomb of memory ends at the limit": Table(
        BOMBS, ("memory in four processes", "memory in a file without a place")
    ),
    "every endless cell ends at the wall": Table(
        {name: Attack(cell, "timeout", "", "", hasty=True) for name, cell in ENDLESS.items()},
        ("a loop deaf to signals", "a stop"),
    ),
    "no process or thread outlives its bomb": Table(
        PROCESSES, ("fork bomb that continues", "double fork in a new session")
    ),
    "no cell fills the disk": Table(
        {name: replace(row, alone=True) for name, row in FILES.items()},
        (
            "many files of the largest size",
            "folders in folders",
            "nameless files held by their mappings",
            "links and rights that hinder cleaning",
            "its scratch folder in place of the canary",
        ),
    ),
    "output is cut": Table(OUTPUT),
    "an answer is a short text or none": Table({name: replace(row, alone=True) for name, row in ANSWERS.items()}),
}
