import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const ROOT = new URL('../../..', import.meta.url).pathname

/** What npm needs to reach the registry on this machine. */
const OF_NETWORK =
  /^(?:npm_config_(?:registry|cafile|userconfig|globalconfig)|(?:https?|no)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE)$/i

export function networkEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => OF_NETWORK.test(name))
  return { ...Object.fromEntries(entries), npm_config_prefer_offline: 'true' } as Record<string, string>
}

/** The environment of somebody who has Node.js and npm, and no clone of this repository. */
export function foreignEnvironment(env: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { PATH = '', HOME = '' } = process.env
  const path = PATH.split(delimiter).filter((entry) => !entry.includes('node_modules'))
  return { ...networkEnvironment(), PATH: path.join(delimiter), HOME, ...env }
}

/** Packs a workspace, as a release does, and returns the path of the tarball. */
export function packWorkspace(workspace: 'server' | 'cli', target: string): string {
  mkdirSync(target, { recursive: true })
  // .npmrc turns scripts off, and "prepack" builds what is packed.
  const args = ['pack', '--silent', '--ignore-scripts=false', '--workspace', workspace, '--pack-destination', target]
  execFileSync('npm', args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
  const [tarball] = globSync(`shiplock-${workspace}-*.tgz`, { cwd: target })
  if (tarball === undefined) throw new Error(`npm pack made no package of ${workspace}`)
  return join(target, tarball)
}

type Installed = { directory: string; tarballs: string[]; remove: () => void }

/** Installs both packages into an empty directory. */
export function installPackages(): Installed {
  const directory = mkdtempSync(join(tmpdir(), 'shiplock-installed-'))
  const tarballs = (['server', 'cli'] as const).map((name) => packWorkspace(name, join(directory, 'tarballs')))
  writeFileSync(join(directory, 'package.json'), '{}')
  const flags = ['--silent', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  execFileSync('npm', ['install', ...flags, ...tarballs], { cwd: directory, env: foreignEnvironment() })
  return { directory, tarballs, remove: () => rmSync(directory, { recursive: true, force: true }) }
}
