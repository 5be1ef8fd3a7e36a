import { execFile } from 'node:child_process'

/** The operating system account that runs PostgreSQL; undefined means our own. */
export type Account = { uid: number; gid: number } | undefined

/**
 * The working directory as PostgreSQL programs name it. Their account may not be able to enter the
 * parents of the data directory (a clone in /root), so they cannot use its path. The working
 * directory is set while the child is still root, and every backend inherits it. On Linux,
 * /proc/self/cwd is an absolute path to it that needs no parent.
 */
export const WORKING_DIRECTORY = process.platform === 'linux' ? '/proc/self/cwd' : '.'

/** A fixed environment, so that PGDATA or PGOPTIONS of the caller have no effect. */
export function getChildOptions(account: Account, cwd: string) {
  return { ...account, cwd, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } }
}

/** Who runs a program, where, and what it reads from standard input. */
type RunOptions = { account: Account; cwd: string; input?: string }

/**
 * Runs a program to its end and returns its output. Fails with what it printed on standard error.
 */
export function run(file: string, args: string[], { account, cwd, input = '' }: RunOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(file, args, getChildOptions(account, cwd), (error, stdout, stderr) => {
      if (error) reject(new Error(`${file}: ${stderr.trim() || error.message}`))
      else resolve(stdout)
    })
    child.stdin?.on('error', () => {}) // a program that ends early is reported by its exit code
    child.stdin?.end(input)
  })
}
