import { execFileSync } from 'node:child_process'
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { installOnce } from '../../../server/test/support/install-go-program.ts'
import { npm } from './npm.ts'

const VERSION = '20.20.2'

/** Path of Node 20: the one that runs npm, or one that npm installs once for all clones of this user. */
export function installNode20(): Promise<string> {
  const own = process.env.npm_node_execpath
  if (own && execFileSync(own, ['--version'], { encoding: 'utf8' }).startsWith('v20.')) return Promise.resolve(own)
  const name = `node-${platform()}-${arch()}`
  return installOnce(`${name}-${VERSION}`, async (directory) => {
    const flags = ['--prefix', directory, '--ignore-scripts', '--no-audit', '--no-fund']
    await npm('install', ...flags, `${name}@${VERSION}`)
    return join(directory, 'node_modules', name, 'bin', 'node')
  })
}
