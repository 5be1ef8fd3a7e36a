import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'

/** What the image says about its processes (`docker inspect`). */
type ImageConfig = {
  User: string
  Env: string[]
  Entrypoint: string[]
  Cmd: string[]
  WorkingDir: string
  Volumes: Record<string, object>
  StopSignal: string
  Healthcheck?: { Test: string[] }
}

/** A running process of an image, as the machine sees it. */
type Running = ChildProcessByStdio<null, Readable, Readable>

export type Image = { root: string; config: ImageConfig }

/**
 * What a container engine does with a read-only root, no capabilities, no new privileges, a volume
 * and a /tmp of its own. The network is that of the machine, so that tests reach the server.
 */
const ISOLATE = `
set -eu
root=$1 volume=$2 target=$3 uid=$4 gid=$5; shift 5
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount --bind "$volume" "$root$target"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mkdir -m 1777 "$root/dev/shm"
for device in null:3 zero:5 random:8 urandom:9; do
  mknod -m 666 "$root/dev/\${device%:*}" c 1 "\${device#*:}"
done
cd "$root"
exec chroot . setpriv --reuid "$uid" --regid "$gid" --clear-groups --no-new-privs --bounding-set=-all "$@"
`

/** Runs processes of an image as a container engine would, one container for each. */
export class Containers {
  readonly #image: Image
  readonly #volume: string
  readonly #settings: Record<string, string>

  constructor(image: Image, volume: string, settings: Record<string, string>) {
    this.#image = image
    this.#volume = volume
    this.#settings = settings
    const [uid = 0, gid = 0] = this.#user
    mkdirSync(volume, { mode: 0o700 })
    chownSync(volume, uid, gid)
  }

  get #user(): number[] {
    return this.#image.config.User.split(':').map(Number)
  }

  /** Starts the entry point with a command of `docker run IMAGE COMMAND…`. */
  start(command: string[] = this.#image.config.Cmd): Running {
    return this.#spawn([...this.#image.config.Entrypoint, ...command])
  }

  /** Runs a program to its end, as `docker exec` does. */
  async exec(program: string[]): Promise<{ code: number; output: string }> {
    const child = this.#spawn(program)
    const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)))
    const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
    return { code, output: output + errors }
  }

  #spawn(program: string[]): Running {
    const { config, root } = this.#image
    const [target = ''] = Object.keys(config.Volumes)
    const env = [...config.Env, ...Object.entries(this.#settings).map(([name, value]) => `${name}=${value}`)]
    const inside = ['env', '--ignore-environment', `--chdir=${config.WorkingDir}`, ...env, ...program]
    const isolate = ['sh', '-c', ISOLATE, 'sh', root, this.#volume, target, ...this.#user.map(String), ...inside]
    const namespaces = ['--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child']
    return spawn('unshare', [...namespaces, ...isolate], { stdio: ['ignore', 'pipe', 'pipe'] })
  }
}

/** Sends a signal to the first process of the container, and answers its exit code. */
export async function stopContainer(container: Running, signal: NodeJS.Signals): Promise<number | null> {
  const ended = new Promise<number | null>((resolve) => container.on('close', resolve))
  process.kill(firstProcess(container), signal)
  return ended
}

/** Ids of the user and group of the first process, and what it may do. */
export function statusOf(container: Running): string {
  return readFileSync(join('/proc', String(firstProcess(container)), 'status'), 'utf8')
}

/** Its id outside of the container. */
function firstProcess({ pid }: Running): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0])
}
