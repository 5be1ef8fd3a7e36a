import { lchown, lstat, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { toNullIfMissing } from '../../files.ts'
import { type Account, run } from './child-process.ts'

/** The system account that runs PostgreSQL for root. No other program has it. */
const SYSTEM_ACCOUNT = 'shiplock'

/** What runs as one of these could reach the files of PostgreSQL. */
const SHARED_ACCOUNTS = ['postgres', '_postgres', 'nobody']

const HOME = '/var/lib/shiplock'
const PATH = '/usr/sbin:/sbin:/usr/bin:/bin'
const USERADD = `useradd --system --home-dir ${HOME} --shell /usr/sbin/nologin ${SYSTEM_ACCOUNT}`

/**
 * For a lock on `/etc/passwd`, because each of two processes would make an account otherwise.
 * Whoever locks the file that `useradd` has put into its place finds the account in it.
 */
const MAKE_ACCOUNT = `PATH=${PATH}; id -u ${SYSTEM_ACCOUNT} > /dev/null 2>&1 || ${USERADD}`

/**
 * Chooses the account that runs PostgreSQL: our own unless we are root. Root lends the account of a
 * user to whom the whole data directory belongs, and otherwise uses the system account, which it
 * makes if it is missing.
 */
export async function selectAccount(cluster: string): Promise<Account> {
  if (process.getuid?.() !== 0) return undefined
  const owner = await findOwner(cluster)
  const system = await findSystemAccount()
  if (owner === null || owner.uid === system?.uid) return system ?? makeSystemAccount()
  const { uid } = await stat(dirname(cluster))
  if (uid === 0 || uid !== owner.uid) return system ?? makeSystemAccount()
  await refuseShared(cluster, uid)
  return owner
}

/** Changes its owner last, so that an interrupted change is repeated. Each cluster has it. */
const OWNED_LAST = 'PG_VERSION'

async function findOwner(cluster: string): Promise<NonNullable<Account> | null> {
  const file = await toNullIfMissing(lstat(join(cluster, OWNED_LAST)))
  return file && { uid: file.uid, gid: file.gid }
}

/** initdb looks up the name of its user, so the account must be in /etc/passwd. */
async function findSystemAccount(): Promise<NonNullable<Account> | null> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  const [, , uid, gid] = lines.find(([name]) => name === SYSTEM_ACCOUNT) ?? []
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) }
}

async function makeSystemAccount(): Promise<Account> {
  const making = run('/usr/bin/flock', ['/etc/passwd', 'sh', '-c', MAKE_ACCOUNT], { account: undefined, cwd: '/' })
  const failure = await making.then(
    () => 'it is not in /etc/passwd afterwards',
    (error: Error) => error.message,
  )
  const made = await findSystemAccount()
  if (made !== null) return made
  throw new Error(
    `PostgreSQL does not run as root, and the system account ${SYSTEM_ACCOUNT} could not be made (${failure}). ` +
      `Make it (${USERADD}), or run Shiplock as another user`,
  )
}

async function refuseShared(cluster: string, uid: number): Promise<void> {
  const name = await run('/usr/bin/id', ['-nu', String(uid)], { account: undefined, cwd: '/' }).catch(() => '')
  const dataDir = dirname(cluster)
  if (!SHARED_ACCOUNTS.includes(name.trim())) return
  throw new Error(
    `${dataDir} belongs to ${name.trim()}, as which other programs run. ` +
      `Give it to root (chown -R root ${dataDir}), or run Shiplock as a user of its own`,
  )
}

/**
 * Gives a stopped cluster to the account that is to run it, if it belongs to another one, and with
 * it the archive of its WAL. May be done twice at once. What links in them lead to keeps its owner.
 */
export async function updateClusterOwner(cluster: string, account: Account, archive: string | null): Promise<void> {
  const owner = account && (await findOwner(cluster))
  if (!owner || owner.uid === account.uid) return
  const kept = archive === null ? null : await toNullIfMissing(stat(archive))
  if (archive !== null && kept?.uid === owner.uid) await updateOwner(await realpath(archive), account)
  const place = await realpath(cluster)
  const last = join(place, OWNED_LAST)
  await updateOwner(place, account, last)
  await lchown(last, account.uid, account.gid)
}

/**
 * Gives a directory and all in it, except one file, to an account. Each directory changes its owner
 * before its entries do: from then on, the old owner cannot put other files into their places.
 */
export async function updateOwner(
  directory: string,
  account: NonNullable<Account>,
  except: string | null = null,
): Promise<void> {
  await lchown(directory, account.uid, account.gid)
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await updateOwner(path, account, except)
    else if (path !== except && !(await isSecondName(path))) await lchown(path, account.uid, account.gid)
  }
}

/** A file of root's to which the old owner has given a name in its directory. */
async function isSecondName(path: string): Promise<boolean> {
  const { uid, nlink } = await lstat(path)
  return uid === 0 && nlink > 1
}
