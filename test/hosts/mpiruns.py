"""The mpiruns of this machine, which start ranks on hosts of namespaces.py."""
import shutil
import subprocess

import namespaces


def open_mpi(network, folder, each, variables):
    hosts = ','.join(f'{host.name}:{each}' for host in network.hosts)
    return ['--host', hosts, '--mca', 'plm_rsh_agent', network.agent(folder), '--bind-to', 'none',
            *(word for name in variables for word in ('-x', name))]


def mpich(network, folder, each, variables):
    return ['-hosts', ','.join(host.name for host in network.hosts), '-ppn', str(each), '-launcher', 'ssh', '-launcher-exec',
            network.agent(folder), '-localhost', network.ADDRESS, '-bind-to', 'none',
            *(word for name, value in variables.items() for word in ('-genv', name, value))]


FLAGS = {'mpirun.openmpi': open_mpi, 'mpirun.mpich': mpich}


def found():
    return [name for name in FLAGS if shutil.which(name)]


def start(name, network, folder, command, each=2, **variables):
    """Starts a command with `each` ranks on each host."""
    flags = FLAGS[name](network, folder, each, variables)
    root = dict(OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1')
    return subprocess.Popen([name, '-n', str(each * len(network.hosts)), *flags, *command], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=namespaces.environment(**root, **variables))
