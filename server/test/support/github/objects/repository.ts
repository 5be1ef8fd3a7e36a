import type { Repository } from '../../hosts/types.ts'
import { fullName } from '../../hosts/world.ts'
import { simpleUser } from './accounts.ts'
import { apiUrl, pageUrl, type Urls } from './urls.ts'

/** The addresses of a repository's parts, as paths below the repository. */
const PARTS = {
  archive_url: '/{archive_format}{/ref}',
  assignees_url: '/assignees{/user}',
  blobs_url: '/git/blobs{/sha}',
  branches_url: '/branches{/branch}',
  collaborators_url: '/collaborators{/collaborator}',
  comments_url: '/comments{/number}',
  commits_url: '/commits{/sha}',
  compare_url: '/compare/{base}...{head}',
  contents_url: '/contents/{+path}',
  contributors_url: '/contributors',
  deployments_url: '/deployments',
  downloads_url: '/downloads',
  events_url: '/events',
  forks_url: '/forks',
  git_commits_url: '/git/commits{/sha}',
  git_refs_url: '/git/refs{/sha}',
  git_tags_url: '/git/tags{/sha}',
  hooks_url: '/hooks',
  issue_comment_url: '/issues/comments{/number}',
  issue_events_url: '/issues/events{/number}',
  issues_url: '/issues{/number}',
  keys_url: '/keys{/key_id}',
  labels_url: '/labels{/name}',
  languages_url: '/languages',
  merges_url: '/merges',
  milestones_url: '/milestones{/number}',
  notifications_url: '/notifications{?since,all,participating}',
  pulls_url: '/pulls{/number}',
  releases_url: '/releases{/id}',
  stargazers_url: '/stargazers',
  statuses_url: '/statuses/{sha}',
  subscribers_url: '/subscribers',
  subscription_url: '/subscription',
  tags_url: '/tags',
  teams_url: '/teams',
  trees_url: '/git/trees{/sha}',
}

/** What every object has that contains a repository. */
export function minimalRepository(urls: Urls, repository: Repository) {
  const url = apiUrl(urls, repository)
  const parts = Object.entries(PARTS).map(([name, path]) => [name, `${url}${path}`])
  return {
    id: repository.id,
    node_id: `R_${repository.id}`,
    name: repository.name,
    full_name: fullName(repository),
    private: repository.private,
    owner: simpleUser(urls, repository.owner),
    html_url: pageUrl(urls, repository),
    description: null,
    fork: false,
    url,
    ...(Object.fromEntries(parts) as Record<keyof typeof PARTS, string>),
  }
}

export function wholeRepository(urls: Urls, repository: Repository) {
  const page = pageUrl(urls, repository)
  return {
    ...minimalRepository(urls, repository),
    git_url: `git:${page.replace(/^https?:/, '')}.git`,
    ssh_url: `git@${new URL(urls.html).host}:${fullName(repository)}.git`,
    clone_url: `${page}.git`,
    svn_url: page,
    mirror_url: null,
    homepage: null,
    language: null,
    license: null,
    forks_count: 0,
    stargazers_count: 0,
    watchers_count: 0,
    size: 12,
    default_branch: repository.default_branch,
    open_issues_count: 0,
    topics: [],
    has_issues: true,
    has_projects: false,
    has_wiki: false,
    has_pages: false,
    has_downloads: true,
    has_discussions: false,
    archived: repository.archived,
    disabled: false,
    visibility: repository.private ? 'private' : 'public',
    pushed_at: repository.pushed_at,
    created_at: repository.created_at,
    updated_at: repository.updated_at,
    forks: 0,
    open_issues: 0,
    watchers: 0,
  }
}

/** The answer to `GET /repos/{owner}/{repo}`. */
export function fullRepository(urls: Urls, repository: Repository) {
  const organization =
    repository.owner.type === 'organization' ? { organization: simpleUser(urls, repository.owner) } : {}
  return { ...wholeRepository(urls, repository), ...organization, subscribers_count: 0, network_count: 0 }
}
