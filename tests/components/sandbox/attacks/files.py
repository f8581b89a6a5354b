"""Cells see their data and a scratch folder; they read and change nothing else (attacks 1 and 18)."""

from dataclasses import replace

from tests.components.sandbox.attacks.attack import BARRED, Attack, Table

GONE = "AssertionError|PermissionError|FileNotFoundError"
SECRETS = {
    "a system file": Attack("answer = open('/etc/passwd').read()"),
    "the passwords": Attack("answer = open('/etc/shadow').read()", bare="root"),
    "the gold file": Attack("answer = open(GROUND + '/gold.json').read()"),
    "the gold file by .. from the data": Attack("answer = open(DATA + '/../gold.json').read()"),
    "the gold file by a link in the data": Attack("answer = open(DATA + '/link.json').read()"),
    "the gold file by a link of its own": Attack(
        "import os; os.symlink(GROUND + '/gold.json', 'mine'); answer = open('mine').read()"
    ),
    "the gold file by a hard link": Attack(
        "import os; os.link(GROUND + '/gold.json', 'mine'); answer = open('mine').read()", says=f"{GONE}|OSError"
    ),
    "the gold file by its handle": Attack(
        "import os\nhandle = bytes.fromhex(HANDLE)\n"
        "answer = os.read(syscall('open_by_handle_at', os.open(DATA, os.O_RDONLY), handle, 0), 99)",
        bare="root",
    ),
    "the gold file by the descriptor that the harness forgot to close": Attack(
        "import os; answer = os.pread(INHERITED, 99, 0); assert b'gold' in answer", says=f"{GONE}|OSError"
    ),
    "the list of the folder above the data": Attack(
        "import os; assert 'gold.json' in os.listdir(GROUND); answer = 'seen'", says=GONE
    ),
    "the working folder of the harness": Attack("answer = open(GROUND + '/work/notes.txt').read()"),
    "the working folder of the harness by its process": Attack("answer = open(f'/proc/{HOST}/cwd/notes.txt').read()"),
    "the root of the first process": Attack("answer = open('/proc/1/root/etc/passwd').read()", bare=""),
    "the files of the harness by its root": Attack("answer = open(f'/proc/{HOST}/root/etc/passwd').read()"),
    "the home of the person": Attack("answer = open(GROUND + '/home/.netrc').read()"),
    "the project's source": Attack("answer = open(PROJECT + '/components/core/errors.py').read()"),
    "the project's tests": Attack("answer = open(PROJECT + '/tests/conftest.py').read()"),
    "the project's configuration": Attack("import os; assert os.listdir(PROJECT + '/conf'); answer = 'seen'"),
    "the project's history": Attack("answer = open(PROJECT + '/.git/HEAD').read()", bare=""),
    "the project's modules": Attack("import components.scorers.choice; answer = 'seen'", says="ModuleNotFoundError|ImportError|PermissionError"),
    "the folders of other episodes": Attack(
        "import os\nfor name in os.listdir('..'):\n    if name != os.path.basename(os.getcwd()):\n"
        "        try: open(f'../{name}/leak', 'w').write('x')\n        except OSError: continue\n        answer = name\n"
        "assert 'answer' in globals()",
        bare="", alone=True,
    ),
    "a socket that it was handed": Attack(
        "import os, stat\nfor n in range(1024):\n    try: kind = os.fstat(n).st_mode\n    except OSError: continue\n"
        "    if stat.S_ISSOCK(kind) or stat.S_ISREG(kind): answer = n\nassert 'answer' in globals()",
        bare="",
    ),
    "a secret in shared memory": Attack("answer = open(SHARED).read()"),
    "a device by a node of its own": Attack(
        "import os, stat; os.mknod('disk', stat.S_IFBLK | 0o600, DEVICE); answer = len(open('disk', 'rb').read(512))",
        bare="",
    ),
    "the memory of the machine": Attack("answer = len(open('/dev/mem', 'rb').read(16))", bare=""),
    "the log of the kernel": Attack("answer = open('/dev/kmsg', 'rb', 0).read(9)", bare=""),
    "the settings of the machine": Attack("answer = open('/etc/hostname').read()", bare=""),
    "a root of its own with .. out of it": Attack(
        "import os\nos.mkdir('jail'); here = os.open('.', os.O_RDONLY)\nos.chroot('jail')\nos.fchdir(here)\n"
        "for _ in range(40): os.chdir('..')\nos.chroot('.')\nanswer = open('/etc/passwd').read()",
        bare="root",
    ),
    "a namespace of its own where it is root": Attack(
        "syscall('unshare', 0x10020000); answer = open('/proc/self/uid_map').read()", says=BARRED
    ),
    "another file system over its data": Attack("syscall('mount', b'none', b'/', 0, 1 << 18, 0); answer = 'mounted'", bare=""),
    "the file system below its root": Attack("syscall('umount2', b'/', 2); answer = open('/etc/passwd').read()", bare=""),
}  # fmt: skip
CANARY = {
    "written": "open(CANARY, 'w').write('x')",
    "appended to": "open(CANARY, 'a').write('x')",
    "truncated": "os.truncate(CANARY, 0)",
    "removed": "os.remove(CANARY)",
    "renamed": "os.rename(CANARY, CANARY + '2')",
    "replaced": "open('mine', 'w').write('x'); os.replace('mine', CANARY)",
    "linked": "os.link(CANARY, 'mine'); open('mine', 'w').write('x')",
    "linked to, and followed": "os.symlink(CANARY, 'mine'); open('mine', 'w').write('x')",
    "made open to all": "os.chmod(CANARY, 0o4777)",
    "made open to all by its folder": "os.fchmod(os.open(GROUND + '/canary', os.O_RDONLY), 0o700)",
    "made open to all by the newest call": "syscall('fchmodat2', -100, CANARY.encode(), 0o700, 0)",
    "given a name next to it": "open(GROUND + '/canary/new', 'w').write('x')",
    "given a folder next to it": "os.mkdir(GROUND + '/canary/new')",
    "given a link next to it": "os.symlink('x', GROUND + '/canary/new')",
    "given a pipe next to it": "os.mkfifo(GROUND + '/canary/new')",
    "given a nameless file next to it": "os.write(os.open(GROUND + '/canary', os.O_TMPFILE | os.O_RDWR), b'x')",
    "made older": "os.utime(CANARY, (1, 1))",
    "marked": "os.setxattr(CANARY, 'user.mark', b'x')",
    "mapped and changed": "import mmap; mmap.mmap(os.open(CANARY, os.O_RDWR), 5)[0] = 7",
}
DATA = {
    "removed": "os.remove(FILE)",
    "renamed": "os.rename(FILE, DATA + '/other')",
    "moved to scratch": "os.rename(FILE, 'mine')",
    "truncated": "os.truncate(FILE, 0)",
    "written": "open(FILE, 'r+b').write(b'x')",
    "made open to all": "os.chmod(FILE, 0o4777)",
    "made open to all by its descriptor": "os.fchmod(os.open(FILE, os.O_RDONLY), 0o4777)",
    "made older": "os.utime(FILE, (1, 1))",
    "marked": "os.setxattr(FILE, 'user.mark', b'x')",
    "given to another": "os.chown(FILE, 1, 1)",
    "linked and written": "os.link(FILE, 'mine'); open('mine', 'r+b').write(b'x')",
    "opened again for writing": "os.open('/proc/self/fd/%d' % os.open(FILE, os.O_RDONLY), os.O_RDWR)",
    "mapped and changed": "import mmap; mmap.mmap(os.open(FILE, os.O_RDWR), 9)[0] = 7",
    "given a neighbour": "open(DATA + '/new', 'w').write('x')",
    "given a journal": "open(FILE + '-journal', 'w').write('x')",
    "written by SQL": "import sqlite3; c = sqlite3.connect(FILE); c.execute('DELETE FROM patients'); c.commit()",
    "written by SQL and a mode": "import sqlite3; c = sqlite3.connect(f'file:{FILE}?mode=rw&nolock=1', uri=True); c.execute('DROP TABLE patients'); c.commit()",
    "written by SQL from another": "import sqlite3; c = sqlite3.connect(':memory:'); c.execute(f\"ATTACH '{FILE}' AS a\"); c.execute('DROP TABLE a.patients')",
    "prepared tables: written": "name = os.path.join(COLUMNS, os.listdir(COLUMNS)[0]); open(name, 'r+b').write(b'x')",
    "prepared tables: removed": "os.remove(os.path.join(COLUMNS, os.listdir(COLUMNS)[0]))",
    "libraries: given a module": "import site; open(GROUND + '/work/sitecustomize.py', 'w').write('x')",
}
LIBRARIES = {
    "a module": "import json; open(os.path.dirname(json.__file__) + '/attack.py', 'w').write('x')",
    "a hook at start": "import site; open(site.getsitepackages()[0] + '/attack.pth', 'w').write('import os')",
    "a module by pandas": "import pandas; open(os.path.dirname(pandas.__file__) + '/__init__.py', 'r+').write('#')",
    "the interpreter": "import sys; open(os.path.realpath(sys.executable), 'r+b').write(b'x')",
    "the project": "open(PROJECT + '/tests/attack.py', 'w').write('x')",
    "the temporary folder": "open(f'{GROUND}/tmp/attack', 'w').write('x')",
    "the shared memory": "open(SHARED, 'w').write('x')",
}


def changing(cell: str, bare: str = "anyone") -> Attack:
    says = "PermissionError|FileNotFoundError|NotADirectoryError|AssertionError|readonly|unable to open|OSError"
    return Attack(
        f"import os\nCANARY = GROUND + '/canary/canary.txt'\n{cell}\nanswer = 'changed'", says=says, bare=bare
    )


CHANGES = {
    **{f"the canary is {name}": changing(cell) for name, cell in CANARY.items()},
    "the canary is asked for its size": replace(
        changing("assert os.stat(CANARY).st_size == 5"),
        open_in={"landlock": "Landlock bars no look at the size and the times of a file whose name is known"},
    ),
    **{f"the data are {name}": changing(cell, "root" if "chown" in cell else "anyone") for name, cell in DATA.items()},
    **{f"the machine gets {name}": changing(cell, "") for name, cell in LIBRARIES.items()},
}


TABLES = {
    "no cell reads what is not its data": Table(SECRETS, brief=None, tried=True),
    "no cell changes what is not its scratch folder": Table(CHANGES, brief=None, tried=True),
}
