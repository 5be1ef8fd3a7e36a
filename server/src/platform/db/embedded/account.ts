import { readFile, stat } from 'node:fs/promises'

/** The operating system account that runs PostgreSQL; undefined means our own. */
export type Account = { uid: number; gid: number } | undefined

/** PostgreSQL refuses to run as root. As root, the first of these accounts that exists runs it. */
const ACCOUNT_NAMES = ['shiplock', 'postgres', '_postgres', 'nobody']

/** Chooses the account: our own unless we are root; the owner of the cluster if it exists. */
export async function accountFor(clusterDirectory: string): Promise<Account> {
  if (process.getuid?.() !== 0) return undefined
  const owner = await stat(clusterDirectory).catch(() => undefined)
  if (!owner) return accountFromPasswd(await readFile('/etc/passwd', 'utf8'))
  if (owner.uid === 0) throw new Error(`${clusterDirectory} belongs to root; PostgreSQL needs another owner (chown -R)`)
  return { uid: owner.uid, gid: owner.gid }
}

/** initdb looks up the name of its user, so the account must be in /etc/passwd. */
function accountFromPasswd(passwd: string): Account {
  const entries = passwd.split('\n').map((line) => line.split(':'))
  for (const name of ACCOUNT_NAMES) {
    const entry = entries.find((fields) => fields[0] === name)
    if (entry) return { uid: Number(entry[2]), gid: Number(entry[3]) }
  }
  throw new Error('PostgreSQL cannot run as root, and /etc/passwd contains none of: shiplock, postgres, nobody')
}
