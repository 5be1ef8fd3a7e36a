import { createHash } from 'node:crypto'
import type { Commit, Repository } from '../../hosts/types.ts'
import { fullName } from '../../hosts/world.ts'
import { type Gitlab, iso, namespaceOf } from '../gitlab.ts'

/**
 * GitLab's "Projects API" shows the `namespace` of a project with its `id` and `parent_id`. Ids stay
 * when a group is renamed.
 */
export function projectShape(gitlab: Gitlab, repository: Repository) {
  const { url } = gitlab
  const { id, name, owner, path, default_branch, archived, created_at, updated_at } = repository
  const whole = fullName(repository)
  const rules = [...repository.rules.values()]
  return {
    id,
    name,
    path: name,
    path_with_namespace: whole,
    default_branch,
    visibility: repository.private ? 'private' : 'public',
    archived,
    web_url: `${url}/${whole}`,
    namespace: {
      ...namespaceOf(gitlab, owner, path),
      owner: undefined,
      kind: 'group',
      full_path: path === '' ? owner.login : `${owner.login}/${path}`,
    },
    created_at: iso(created_at),
    updated_at: iso(updated_at),
    last_activity_at: iso(updated_at),
    ci_config_path: '',
    merge_trains_enabled: rules.some(({ mergeQueue }) => mergeQueue),
    only_allow_merge_if_pipeline_succeeds: false,
    only_allow_merge_if_all_status_checks_passed: rules.some(({ checks }) => checks),
  }
}

/** The project in webhooks. */
export function hookProject({ url }: Gitlab, repository: Repository) {
  const whole = fullName(repository)
  return {
    id: repository.id,
    name: repository.name,
    description: null,
    web_url: `${url}/${whole}`,
    avatar_url: null,
    git_ssh_url: `git@gitlab.example.com:${whole}.git`,
    git_http_url: `${url}/${whole}.git`,
    namespace: repository.owner.login,
    visibility_level: repository.private ? 0 : 20,
    path_with_namespace: whole,
    default_branch: repository.default_branch,
    ci_config_path: '',
  }
}

export function commitShape(commit: Commit) {
  const { sha, message, parents, author, committer, at } = commit
  return {
    id: sha,
    short_id: sha.slice(0, 8),
    title: message.split('\n')[0],
    message,
    parent_ids: parents,
    author_name: author.name,
    author_email: author.email,
    authored_date: iso(at),
    committer_name: committer.name,
    committer_email: committer.email,
    committed_date: iso(at),
    created_at: iso(at),
  }
}

/** The id of a file's version, as git makes it. */
export function blobId(text: string): string {
  return createHash('sha1')
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest('hex')
}
