import { execFileSync } from 'node:child_process'
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { installOnce } from '../../../server/test/support/install-go-program.ts'
import { npm } from './npm.ts'

/** A program that runs JavaScript, and the arguments before the name of a file. */
export type Runtime = { name: string; command: string; args: string[] }

const NODE_20 = '20.20.2'
const NODE_22 = '22.23.5'
const DENO = '2.9.6'
const BUN = '1.4.5'

/** The runtimes that the SDK is for. Those that are not here are installed once for this user. */
export async function installRuntimes(): Promise<Runtime[]> {
  const deno = `@deno/${platform()}-${arch()}${platform() === 'linux' ? '-glibc' : ''}`
  const bun = `@oven/bun-${platform()}-${arch() === 'arm64' ? 'aarch64' : arch()}`
  return [
    ...(await installNodes()),
    { name: 'Deno', command: await installFromNpm(deno, DENO, 'deno'), args: ['run', '--allow-all'] },
    { name: 'Bun', command: await installFromNpm(bun, BUN, 'bin/bun'), args: ['run'] },
  ]
}

/** Every Node.js that our clients are for, the one of this program last. */
export async function installNodes(): Promise<Runtime[]> {
  const node = `node-${platform()}-${arch()}`
  return [
    { name: 'Node 20', command: ownNode20() ?? (await installFromNpm(node, NODE_20, 'bin/node')), args: [] },
    { name: 'Node 22', command: await installFromNpm(node, NODE_22, 'bin/node'), args: [] },
    { name: 'Node 24', command: process.execPath, args: [] },
  ]
}

/** The Node that runs npm, if it is Node 20. */
function ownNode20(): string | undefined {
  const own = process.env.npm_node_execpath
  return own && execFileSync(own, ['--version'], { encoding: 'utf8' }).startsWith('v20.') ? own : undefined
}

function installFromNpm(name: string, version: string, program: string): Promise<string> {
  return installOnce(`${name.replace('/', '-')}-${version}`, async (directory) => {
    const flags = ['--prefix', directory, '--ignore-scripts', '--no-audit', '--no-fund']
    await npm('install', ...flags, `${name}@${version}`)
    return join(directory, 'node_modules', name, program)
  })
}
