import type { Account, Commit, PullRequest, Repository } from '../hosts/types.ts'
import { fullName } from '../hosts/world.ts'
import type { Json } from '../json.ts'

export const HTML = 'https://bitbucket.org'
/** Pull requests name commits by so many characters. */
const SHORT_HASH_CHARS = 12

export function braced(uuid: string): string {
  return `{${uuid}}`
}

/** Times have six decimals and an offset. */
export function timestamp(date: Date): string {
  return date.toISOString().replace('Z', '000+00:00')
}

export function accountJson(account: Account): Json {
  const { login, uuid, name, type } = account
  return {
    type: type === 'organization' ? 'team' : type === 'bot' ? 'app_user' : 'user',
    uuid: braced(uuid),
    display_name: name ?? login,
    ...(type === 'organization' ? { username: login } : { nickname: login, account_id: `557058:${uuid}` }),
    links: {
      self: { href: `${HTML}/!api/2.0/users/${encodeURIComponent(braced(uuid))}` },
      html: { href: `${HTML}/${encodeURIComponent(braced(uuid))}/` },
      avatar: { href: `https://avatars.example.com/${login}` },
    },
  }
}

export function workspaceJson(owner: Account): Json {
  return {
    type: 'workspace',
    uuid: braced(owner.uuid),
    slug: owner.login,
    name: owner.name ?? owner.login,
    is_private: true,
    created_on: timestamp(owner.created_at),
    links: { html: { href: `${HTML}/${owner.login}/` } },
  }
}

export function repositoryJson(repository: Repository): Json {
  const { uuid, owner, name, default_branch, refs } = repository
  const html = `${HTML}/${fullName(repository)}`
  return {
    type: 'repository',
    uuid: braced(uuid),
    full_name: fullName(repository),
    name,
    slug: name,
    is_private: repository.private,
    scm: 'git',
    owner: accountJson(owner),
    workspace: workspaceJson(owner),
    mainbranch: refs.size === 0 ? null : { type: 'branch', name: default_branch },
    created_on: timestamp(repository.created_at),
    updated_on: timestamp(repository.updated_at),
    links: { html: { href: html }, avatar: { href: `${html}/avatar` } },
  }
}

/** How a repository is named in other objects. */
export function repositoryName(repository: Repository): Json {
  const { type, uuid, full_name, name, links } = repositoryJson(repository)
  return { type, uuid, full_name, name, links }
}

export function commitJson(repository: Repository, commit: Commit): Json {
  const person = ({ name, email }: Commit['author'], account: Account | null) => ({
    type: 'author',
    raw: `${name} <${email}>`,
    ...(account === null ? {} : { user: accountJson(account) }),
  })
  return {
    type: 'commit',
    hash: commit.sha,
    date: timestamp(commit.at),
    message: commit.message,
    author: person(commit.author, commit.account),
    committer: { ...person(commit.committer, commit.committerAccount), type: 'committer' },
    parents: commit.parents.map((hash) => ({ type: 'commit', hash })),
    repository: repositoryName(repository),
    links: { html: { href: `${HTML}/${fullName(repository)}/commits/${commit.sha}` } },
  }
}

export function shortHash(sha: string): string {
  return sha.slice(0, SHORT_HASH_CHARS)
}

/** One end of a pull request. */
export function endpointJson(repository: Repository, end: PullRequest['head']): Json {
  return {
    repository: repositoryName(repository),
    branch: { name: end.ref },
    commit: { type: 'commit', hash: shortHash(end.sha) },
  }
}
