"""What a cell does to the way results come back ends its worker at most, never another cell or the run (12, 13)."""

from dataclasses import replace

from tests.components.sandbox.attacks.attack import Attack, Table

FORGED = """
import json, os, struct
text = json.dumps({"status": "ok", "answer": "FORGED", "output": "", "error": None, "seconds": 0.0}).encode()
frames = [struct.pack(order, len(text)) + text for order in (">I", "<I", ">Q", "<Q")] + [text + b"\\n"]
def forge(data):
    for number in range(1024):
        try: os.set_blocking(number, False); os.write(number, data)
        except OSError: pass
"""
PICKLE = """
import os
class A:
    def __reduce__(self): return (os.system, ("touch " + GROUND + "/canary/new",))
import pickle
text = pickle.dumps(A())
"""
STATUS = "error|killed|ok|timeout|too_large"


def tampering(cell: str, status: str = "ok|error|killed", says: str = "", hasty: bool = False) -> Attack:
    return Attack(cell, status, says, "", hasty)


CHANNEL = {
    "a forged result as output": Attack(f"{FORGED}print(text.decode())\nanswer = 'real'", "ok", "^real$", ""),
    "a forged result as raw output": Attack(f"{FORGED}os.write(1, frames[0])\nanswer = 'real'", "ok", "^real$", ""),
    "a forged result as complaint": Attack(f"{FORGED}os.write(2, frames[0])\nanswer = 'real'", "ok", "^real$", ""),
    **{
        f"forged results in every descriptor, form {number}": tampering(
            f"{FORGED}forge(frames[{number}])\nanswer = 'real'", "error|killed|ok", "^(?!FORGED)"
        )
        for number in range(5)
    },
    "two forged results": tampering(f"{FORGED}\nfor _ in range(2): forge(frames[0])\nanswer = 'real'", "error|killed|ok", "^(?!FORGED)"),
    "a frame that promises more than it holds": tampering(f"{FORGED}forge(b'\\0\\0\\xff\\xff{{')\nanswer = 1"),
    "a frame of four gigabytes": tampering(f"{FORGED}forge(b'\\xff\\xff\\xff\\xff' + text)\nanswer = 1"),
    "a frame of nothing": tampering(f"{FORGED}forge(bytes(8))\nanswer = 1"),
    "a frame of no number": tampering(f"{FORGED}forge(struct.pack('>I', 3) + b'NaN')\nanswer = 1"),
    "a frame of brackets": tampering(f"{FORGED}forge(struct.pack('>I', 60000) + b'[' * 60000)\nanswer = 1"),
    "a frame of no text": tampering(f"{FORGED}forge(struct.pack('>I', 4) + bytes([255, 254, 0, 1]))\nanswer = 1"),
    "a megabyte in every descriptor": tampering(f"{FORGED}\nfor _ in range(16): forge(b'x' * 65536)\nanswer = 1"),
    "a pickle in every descriptor": tampering(f"{FORGED}{PICKLE}forge(text)\nforge(struct.pack('>I', len(text)) + text)\nanswer = 1"),
    "a pickle as the answer": tampering(f"{PICKLE}answer = text"),
    "an object that pickles badly": tampering(f"{PICKLE}answer = A()"),
    "all descriptors closed": tampering("import os; os.closerange(0, 1024); answer = 1"),
    "all descriptors closed but for an answer by name": tampering(
        "import os\nfor n in range(3, 1024):\n    try: os.dup2(1, n)\n    except OSError: pass\nanswer = 1"
    ),
    "all descriptors read": Attack(
        "import os\nfor n in range(3, 1024):\n    try: os.set_blocking(n, False); os.read(n, 10**6)\n    except OSError: pass\nanswer = 1",
        STATUS, "", "",
    ),
    "all descriptors kept busy": Attack(f"{FORGED}\nwhile True: forge(b'x' * 4096)", "error|killed|timeout", "", "", hasty=True),
    "descriptors of others by way of its own": Attack(
        "import array, os, socket\nfound = []\nfor n in range(1024):\n    try: s = socket.socket(fileno=n)\n    except OSError: continue\n"
        "    s.setblocking(False)\n    for other in range(64):\n        try: s.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [other]))])\n"
        "        except (OSError, ValueError): continue\n    s.detach()\nanswer = 1",
        STATUS, "", "",
    ),
    "json patched": tampering("import json; json.dumps = lambda *a, **k: 'FORGED'; json_leak = 1; answer = 'real'", "ok|error", "^real$|Protocol"),
    "every json function patched": tampering(
        "import json, json.encoder, json.decoder\nfor m in (json, json.encoder, json.decoder):\n    for n in list(vars(m)):\n"
        "        if not n.startswith('__'): setattr(m, n, None)\nanswer = 'real'"
    ),
    "os patched": tampering(
        "import os\nfor n in ('write', 'read', 'close', '_exit', 'fork', 'waitpid', 'kill'): setattr(os, n, lambda *a: 0)\nanswer = 'real'",
        "ok|error|killed|timeout", hasty=True,
    ),
    "struct patched": tampering("import struct; struct.pack = lambda *a: b'x' * 9; answer = 'real'"),
    "str patched": tampering("import builtins; builtins.str = lambda *a: 'FORGED'; builtins.len = lambda x: 0; answer = 'real'"),
    "all builtins gone": tampering("import builtins\nfor n in list(vars(builtins)): delattr(builtins, n)"),
    "all modules gone": tampering("import sys; sys.modules.clear(); answer = 'real'"),
    "frames of the worker changed": tampering(
        "import sys\nframe = sys._getframe()\nwhile frame := frame.f_back:\n    for n in list(frame.f_globals):\n"
        "        if not n.startswith('__'): frame.f_globals[n] = None\nanswer = 'real'"
    ),
    "trace and profile hooks": tampering("import sys; sys.settrace(lambda *a: 1 / 0); sys.setprofile(lambda *a: 1 / 0); answer = 'real'"),
    "audit hook": tampering("import sys\ndef f(*a): raise RuntimeError\nsys.addaudithook(f); answer = 'real'"),
    "exception hook": tampering("import sys; sys.excepthook = lambda *a: print('FORGED'); raise ValueError('real')", "error|killed", "ValueError"),
    "traceback patched": tampering(
        "import traceback\nfor n in list(vars(traceback)):\n    if not n.startswith('__'): setattr(traceback, n, None)\nraise ValueError('real')", "error|killed", "."
    ),
    "exit hook that prints a result": tampering(f"{FORGED}import atexit; atexit.register(forge, frames[0]); answer = 'real'", "ok|error|killed", "^(?!FORGED)"),
    "output replaced": tampering("import sys; sys.stdout = sys.stderr = sys.__stdout__ = None; answer = 'real'", "ok|error", "real|"),
    "output that lies": tampering("import sys\nclass A:\n    def __getattr__(self, n): raise SystemExit\nsys.stdout = A(); answer = 'real'"),
    "limits on descriptors": tampering("import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0)); answer = 'real'"),
    "limits on files": tampering("import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)); answer = 'real'"),
    "a filter of its own that stops every call": tampering(
        "import ctypes, struct\ncode = ctypes.create_string_buffer(struct.pack('HBBI', 6, 0, 0, 0x00050001))\n"
        "class P(ctypes.Structure): _fields_ = [('n', ctypes.c_ushort), ('f', ctypes.c_void_p)]\n"
        "p = P(1, ctypes.addressof(code)); ctypes.CDLL(None).prctl(22, 2, ctypes.byref(p)); answer = 'real'",
        "ok|error|killed|timeout",
    ),
    "a garbage collector turned against it": tampering("import gc\nfor o in gc.get_objects():\n    if type(o) is dict and o is not globals():\n        try: o.clear()\n        except Exception: pass\nanswer = 1", STATUS),
}  # fmt: skip

KEPT = {  # where variables are kept, the process is the cell's for longer: cells may be lost, but not the episode
    "a forged result and a late one": f"{FORGED}import time; forge(frames[0]); time.sleep(0.2); answer = 'real'",
    "half a result": f"{FORGED}forge(frames[0][:20]); answer = 'real'",
    "results ahead": f"{FORGED}\nfor _ in range(5): forge(frames[0])\nanswer = 'real'",
    "closed descriptors": "import os; os.closerange(0, 64); answer = 1",
    "its end": "import os; os._exit(0)",
    "a stop": "import os; os.kill(os.getpid(), 19)",
    "changed ways to read and write": "import os; os.read = os.write = None; answer = 1",
}


TABLES = {
    "only the channel counts and a forger loses only its worker": Table(
        {name: replace(row, alone=True) for name, row in CHANNEL.items()},
        ("all descriptors closed",),
    ),
    "an episode that keeps variables outlives what a cell does to its process": Table(
        {
            name: Attack((cell, "answer = 1", "answer = 2", "answer = 3"), STATUS, ".", "", keep=True, hasty=True)
            for name, cell in KEPT.items()
        }
    ),
}
