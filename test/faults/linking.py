"""Programs of --emit=object with a main function in C."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def link(tools, main, stem, *flags):
    """Links STEM.o with the main function in a C file to the program STEM. Returns what the linker says if it fails, else ''."""
    libraries = os.path.join(tools, '..', 'lib')
    done = subprocess.run(
        [os.environ.get('CXX', 'c++'), '-I', os.path.join(ROOT, 'runtime', 'include'), '-x', 'c', main, '-x', 'none', stem + '.o', *flags,
         os.path.join(libraries, 'libdpc_runtime.a'), os.path.join(libraries, 'libdpc_runtime_data.a'),
         '-lz', '-lm', '-lpthread', '-lrt', '-ldl', '-o', stem], capture_output=True, text=True, timeout=100)
    return done.stderr[-500:] or 'the linker fails' if done.returncode else ''
