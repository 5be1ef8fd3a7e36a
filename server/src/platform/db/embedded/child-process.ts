import { execFile } from 'node:child_process'
import type { Account } from './account.ts'

/**
 * How a PostgreSQL program names the directory it works in. Its account may be unable to enter the parents of the data
 * directory (a clone in /root), so the path itself is useless to it. The child's working directory is set while it is
 * still root, every backend inherits it, and on Linux /proc/self/cwd is an absolute path that needs no parent.
 */
export const WORKING_DIRECTORY = process.platform === 'linux' ? '/proc/self/cwd' : '.'

/** A small, fixed environment: no PGDATA or PGOPTIONS of the caller may lead PostgreSQL astray. */
export function childOptions(account: Account, cwd: string) {
  return { ...account, cwd, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } }
}

/** Who runs a program, where, and what it reads from standard input. */
export type RunOptions = { account: Account; cwd: string; input?: string }

/** Runs a program to its end and returns its output. Fails with what it printed on standard error. */
export function run(file: string, args: string[], { account, cwd, input = '' }: RunOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(file, args, childOptions(account, cwd), (error, stdout, stderr) => {
      if (error) reject(new Error(`${file}: ${stderr.trim() || error.message}`))
      else resolve(stdout)
    })
    child.stdin?.on('error', () => {}) // a program that ends early is reported by its exit code
    child.stdin?.end(input)
  })
}

/** Whether a process of that id exists, whoever's it is; 0 stands for an unknown one. */
export function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
