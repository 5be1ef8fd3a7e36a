import { Text } from '@mantine/core'
import { api, type Schema } from '../api/client.ts'
import { useOrganization } from '../api/session.ts'
import { ExternalLink, Link } from './link.tsx'
import type { Provider } from './names.ts'
import { pages } from './pages.ts'
import { oneLine } from './reported-text.ts'

type RepositoryLinkProps = {
  /** `owner/name`, with its host or without. */
  name: string
  provider?: string | null | undefined
}

/** A repository by its name, which leads to its page. */
export function RepositoryLink({ name, provider }: RepositoryLinkProps) {
  const { slug: org } = useOrganization()
  return (
    <Link {...pages.repository(org)} search={{ name: withoutHost(name), provider: provider as Provider }} size="sm">
      <bdi>{oneLine(name, 200)}</bdi>
    </Link>
  )
}

/** `owner/name` of `host/owner/name`. */
export function withoutHost(name: string): string {
  const [first = '', ...rest] = name.split('/')
  return rest.length > 1 && /[.:]/.test(first) ? rest.join('/') : name
}

const WHOLE_SHA = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/

/** Lists find changes and deployments by whole SHAs only. */
export function isWholeSha(commit: string | null | undefined): commit is string {
  return typeof commit === 'string' && WHOLE_SHA.test(commit)
}

type InRepository = { repository: string; provider: string | null; repository_id: string | null }

/** A commit, with a link to it at the code host where the repository is connected. */
export function CommitLink({ sha, ...repository }: InRepository & { sha: string }) {
  const address = useRepositoryAddress(repository)
  const shown = (
    <Text span size="sm" ff="monospace" title={sha}>
      {sha.slice(0, 12)}
    </Text>
  )
  const base = address?.replace(/(?<!\/)\/+$/, '')
  if (base === undefined || !isWholeSha(sha)) return shown
  const paths: Record<string, string> = { gitlab: '/-/commit/', bitbucket: '/commits/' }
  return <ExternalLink href={`${base}${paths[repository.provider ?? ''] ?? '/commit/'}${sha}`}>{shown}</ExternalLink>
}

type Repository = Schema<'KnownRepository'>

/** Where the code host shows a repository. Null if it is not known. */
export function useRepositoryAddress({ repository, provider, repository_id }: InRepository): string | null {
  const { slug: org } = useOrganization()
  const { data } = api.useQuery(
    'get',
    '/app/api/orgs/{org}/repositories',
    { params: { path: { org }, query: { search: repository, limit: 20 } } },
    { staleTime: 300_000 },
  )
  const isMeant = (each: Repository) =>
    each.full_name === repository &&
    (provider === null || each.provider === provider) &&
    (repository_id === null || each.repository_id === repository_id)
  return data?.data.find(isMeant)?.html_url ?? null
}
