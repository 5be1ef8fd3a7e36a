import { lstat, mkdtemp, readFile, readlink, rename, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** The size of sun_path in sockaddr_un, without the terminating zero byte. */
const SOCKET_PATH_BYTES_MAX = process.platform === 'linux' ? 107 : 103

/** Only part of the socket's file name: the server does not listen on a network. */
export const PORT = 5432

/**
 * The directory that clients use. PostgreSQL binds its socket by a relative name, but clients need
 * a path, whose length is limited. A longer path is replaced by a link in a private temporary
 * directory. The link is recorded in a file, so that a printed address remains valid after the
 * command has ended.
 */
export async function selectSocketDirectory(cluster: string): Promise<string> {
  if (Buffer.byteLength(join(cluster, `.s.PGSQL.${PORT}`)) <= SOCKET_PATH_BYTES_MAX) return cluster
  const known = await readFile(linkRecord(cluster), 'utf8').catch(() => '')
  return (await isSound(known, cluster)) ? known : createLink(cluster)
}

/** Accepts only a link to the cluster, in a directory that no other user can access. */
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
