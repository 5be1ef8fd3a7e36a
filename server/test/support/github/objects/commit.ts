import { createHash } from 'node:crypto'
import type { ChangedFile } from '../../hosts/history.ts'
import type { Account, Commit, Repository } from '../../hosts/types.ts'
import { simpleUser } from './accounts.ts'
import { apiUrl, pageUrl, type Urls } from './urls.ts'

export const NO_COMMIT = '0'.repeat(40)

export function commitObject(urls: Urls, repository: Repository, commit: Commit) {
  const url = `${apiUrl(urls, repository)}/commits/${commit.sha}`
  const page = pageUrl(urls, repository)
  const git = `${apiUrl(urls, repository)}/git`
  return {
    sha: commit.sha,
    node_id: `C_${commit.sha}`,
    url,
    html_url: `${page}/commit/${commit.sha}`,
    comments_url: `${url}/comments`,
    author: accountObject(urls, commit.account),
    committer: accountObject(urls, commit.committerAccount),
    commit: {
      url: `${git}/commits/${commit.sha}`,
      author: { ...commit.author, date: commit.at },
      committer: { ...commit.committer, date: commit.at },
      message: commit.message,
      comment_count: 0,
      tree: { sha: commit.sha, url: `${git}/trees/${commit.sha}` },
      verification: verificationOf(commit),
    },
    parents: commit.parents.map((sha) => ({
      sha,
      url: `${apiUrl(urls, repository)}/commits/${sha}`,
      html_url: `${page}/commit/${sha}`,
    })),
  }
}

function accountObject(urls: Urls, account: Account | null) {
  return account === null ? null : simpleUser(urls, account)
}

function verificationOf({ sha, signature: reason, at }: Commit) {
  const isSigned = reason !== 'unsigned'
  return {
    verified: reason === 'valid',
    reason,
    signature: isSigned ? `signature of ${sha}` : null,
    payload: isSigned ? `payload of ${sha}` : null,
    verified_at: reason === 'valid' ? at : null,
  }
}

/** A commit as webhooks show it. */
export function pushedCommit(urls: Urls, repository: Repository, commit: Commit, isNew: boolean) {
  return {
    id: commit.sha,
    tree_id: commit.sha,
    distinct: isNew,
    message: commit.message,
    timestamp: commit.at,
    url: `${pageUrl(urls, repository)}/commit/${commit.sha}`,
    author: { ...commit.author, ...usernameOf(commit.account) },
    committer: { ...commit.committer, ...usernameOf(commit.committerAccount) },
    added: commit.changed.filter((path) => commit.files.has(path)),
    removed: commit.changed.filter((path) => !commit.files.has(path)),
    modified: [],
  }
}

function usernameOf(account: Account | null) {
  return account === null ? {} : { username: account.login }
}

/** A file that a pull request or a range of commits changes. */
export function diffEntry(urls: Urls, repository: Repository, sha: string, file: ChangedFile) {
  const { path, former, text, status } = file
  const lines = text?.split('\n').length ?? 1
  return {
    sha: text === null ? null : blobSha(text),
    filename: path,
    status,
    additions: status === 'removed' ? 0 : lines,
    deletions: status === 'removed' ? lines : 0,
    changes: lines,
    blob_url: `${pageUrl(urls, repository)}/blob/${sha}/${encodeURI(path)}`,
    raw_url: `${pageUrl(urls, repository)}/raw/${sha}/${encodeURI(path)}`,
    contents_url: `${apiUrl(urls, repository)}/contents/${encodeURI(path)}?ref=${sha}`,
    ...(former === null ? {} : { previous_filename: former }),
  }
}

/** The version of a file, as git computes it. */
export function blobSha(text: string): string {
  const bytes = Buffer.from(text)
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}
