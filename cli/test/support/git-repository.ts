import { execFileSync } from 'node:child_process'
import { temporaryDirectory } from './program.ts'

export type GitRepository = { directory: string; commit: string }

/** A git repository with one commit on the branch `trunk`, and `origin` as its remote. */
export function makeGitRepository(origin: string): GitRepository {
  const directory = temporaryDirectory()
  const git = (...args: string[]) => execFileSync('git', args, { cwd: directory, encoding: 'utf8' }).trim()
  git('init', '--quiet', '--initial-branch=trunk')
  git('remote', 'add', 'origin', origin)
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
  git(...author, 'commit', '--quiet', '--allow-empty', '--message=first')
  return { directory, commit: git('rev-parse', 'HEAD') }
}
