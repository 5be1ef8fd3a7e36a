import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { installOnce } from './install-go-program.ts'

const PROGRAMS = ['buildah', 'debootstrap', 'unshare', 'setpriv']

/** Why images cannot be built on this machine, or false. */
export function imagesCannotBeBuilt(): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'images are built as root on Linux only'
  const missing = PROGRAMS.filter((program) => spawnSync(program, ['--version']).error)
  return missing.length > 0 && `${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} not installed`
}

export function run(program: string, args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (status === 0) return stdout.trim()
  throw new Error(`${program} ${args.join(' ')} failed: ${error?.message ?? `${stdout.slice(-4000)}${stderr}`}`)
}

/** Images of the test's own, which leave nothing on the machine. */
export class ImageStore {
  readonly #directory = mkdtempSync(join(tmpdir(), 'shiplock-images-'))
  readonly #containers: string[] = []

  buildah(...args: string[]): string {
    const own = ['--root', join(this.#directory, 'root'), '--runroot', join(this.#directory, 'state')]
    return run('buildah', [...own, ...args])
  }

  /** A container of the image, and its root directory. */
  mount(image: string): string {
    const container = this.buildah('from', image)
    this.#containers.push(container)
    return this.buildah('mount', container)
  }

  remove(): void {
    for (const container of this.#containers) this.buildah('umount', container)
    this.buildah('rm', '--all')
    this.buildah('rmi', '--all', '--force')
    // The storage driver may have mounted its directory onto itself.
    spawnSync('umount', ['--recursive', '--quiet', join(this.#directory, 'root/overlay')])
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

/**
 * Makes an image that stands for `node:24-trixie-slim`, which only an image registry has: Debian of
 * that name with this machine's Node.js and npm.
 */
export async function makeNodeImage(images: ImageStore, name: string): Promise<void> {
  const suite = /-([a-z]+)-slim$/.exec(name)?.[1] ?? ''
  const root = await installOnce(`debian-${suite}`, (directory) => installDebian(suite, directory))
  const container = images.buildah('from', 'scratch')
  images.buildah('add', '--quiet', container, root, '/')
  const mounted = images.buildah('mount', container)
  addNode(mounted)
  images.buildah('config', ...trustOfThisMachine(mounted), container)
  images.buildah('umount', container)
  images.buildah('commit', '--quiet', '--rm', container, name)
}

async function installDebian(suite: string, directory: string): Promise<string> {
  const root = join(directory, 'root')
  console.error(`Installing Debian ${suite} (once, a minute or two) …`)
  run('debootstrap', ['--variant=minbase', '--include=ca-certificates', suite, root])
  return root
}

function addNode(root: string): void {
  const modules = join(root, 'usr/local/lib/node_modules')
  mkdirSync(modules, { recursive: true })
  copyFileSync(process.execPath, join(root, 'usr/local/bin/node'))
  const [npm = ''] = run('which', ['-a', 'npm']).split('\n').slice(-1)
  cpSync(dirname(dirname(realpathSync(npm))), join(modules, 'npm'), { recursive: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'))
}

/** The certificates and the registry with which npm reaches its packages here. */
function trustOfThisMachine(root: string): string[] {
  const { NODE_EXTRA_CA_CERTS: certificates } = process.env
  const inside = '/etc/ssl/certs/ca-certificates.crt'
  if (certificates) copyFileSync(certificates, join(root, inside))
  const registry = run('npm', ['config', 'get', 'registry']).split('\n').at(-1)
  const entries = [`npm_config_registry=${registry}`, ...(certificates ? [`NODE_EXTRA_CA_CERTS=${inside}`] : [])]
  return entries.flatMap((entry) => ['--env', entry])
}
