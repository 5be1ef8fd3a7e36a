import { lstat, mkdtemp, readFile, readlink, rename, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** sun_path of the system's sockaddr_un, less the closing zero byte. */
const SOCKET_PATH_BYTES_MAX = process.platform === 'linux' ? 107 : 103

/** The port is only a part of the socket's file name: nothing listens on a network. */
export const PORT = 5432

/**
 * The directory to give to clients. PostgreSQL binds its socket by a relative name, but clients need a path, and the
 * system bounds its length: past that they go through a link in a private temporary directory. The link's place is kept
 * in a file, so that an address that one command printed stays good after that command has ended.
 */
export async function socketDirectory(cluster: string): Promise<string> {
  if (Buffer.byteLength(join(cluster, `.s.PGSQL.${PORT}`)) <= SOCKET_PATH_BYTES_MAX) return cluster
  const known = await readFile(linkRecord(cluster), 'utf8').catch(() => '')
  return (await isSound(known, cluster)) ? known : createLink(cluster)
}

/** Only a link in a directory that nobody else can change, and that still leads here. */
async function isSound(link: string, cluster: string): Promise<boolean> {
  try {
    const { uid, mode } = await lstat(dirname(link))
    return uid === process.getuid?.() && (mode & 0o077) === 0 && (await readlink(link)) === cluster
  } catch {
    return false
  }
}

async function createLink(cluster: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-'))
  const link = join(directory, 'postgres')
  await symlink(cluster, link)
  const partial = `${linkRecord(cluster)}.${process.pid}`
  await writeFile(partial, link, { mode: 0o600 })
  await rename(partial, linkRecord(cluster))
  return link
}

function linkRecord(cluster: string): string {
  return `${cluster}.socket-link`
}
