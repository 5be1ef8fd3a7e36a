import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** The keys that `shiplock login` stored, by the URL of their server. The last one is the default. */
type StoredLogins = { default: string; servers: Record<string, { key: string }> }

const NONE: StoredLogins = { default: '', servers: {} }

/** The file with the keys, in the configuration directory of the system. */
export function loginFile(env: NodeJS.ProcessEnv, platform = process.platform): string {
  return join(configurationDirectory(env, platform), 'shiplock', 'credentials.json')
}

function configurationDirectory(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  const home = env.HOME || homedir()
  if (env.XDG_CONFIG_HOME) return env.XDG_CONFIG_HOME
  if (platform === 'win32') return env.APPDATA || join(homedir(), 'AppData', 'Roaming')
  return platform === 'darwin' ? join(home, 'Library', 'Application Support') : join(home, '.config')
}

/** The URL of the server that was logged in to last; null if there is none. */
export function defaultServer(env: NodeJS.ProcessEnv): string | null {
  return readLogins(env).default || null
}

/** The stored key of a server; null if there is none. */
export function storedKey(env: NodeJS.ProcessEnv, url: string): string | null {
  const { servers } = readLogins(env)
  return Object.hasOwn(servers, url) ? (servers[url]?.key ?? null) : null
}

/** Stores the key of a server, readable for its user only. The file is replaced in one step. */
export function storeKey(env: NodeJS.ProcessEnv, url: string, key: string): void {
  const file = loginFile(env)
  const { servers } = readLogins(env)
  const logins: StoredLogins = { default: url, servers: { ...servers, [url]: { key } } }
  const temporary = `${file}.${process.pid}`
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  try {
    writeFileSync(temporary, `${JSON.stringify(logins, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    renameSync(temporary, file)
  } finally {
    rmSync(temporary, { force: true })
  }
}

/** Throws if the file exists and is damaged: it may hold keys that must not be overwritten. */
function readLogins(env: NodeJS.ProcessEnv): StoredLogins {
  const file = loginFile(env)
  const text = readIfExists(file)
  if (text === null) return NONE
  try {
    const stored = JSON.parse(text)
    if (typeof stored.default === 'string' && typeof stored.servers === 'object') return stored
  } catch {}
  throw new Error(`${file} is damaged. Remove it and run shiplock login again`)
}

function readIfExists(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new Error(`${file} cannot be read (${code})`)
  }
}
