import { Code, Group, Text } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import { api, type Schema } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { ExternalLink } from '../../page/link.tsx'
import { PROVIDER_NAMES } from '../../page/names.ts'
import { sourceAddress } from './addresses.ts'
import { locationText } from './names.ts'

type CodePlaceProps = {
  finding: Pick<Schema<'Finding'>, 'location' | 'repository' | 'provider' | 'repository_id' | 'commit_sha' | 'git_ref'>
}

/** A place in the code, with a link to it at the code host where the repository is connected. */
export function CodePlace({ finding }: CodePlaceProps) {
  const { location, commit_sha, git_ref, provider } = finding
  const htmlUrl = useRepositoryAddress(finding)
  if (location === null) return null
  const { path, start_line: start, end_line: end } = location
  const href = sourceAddress({ provider, htmlUrl }, { path, start, end, revision: commit_sha ?? git_ref })
  return (
    <Group gap="xs">
      <Code dir="ltr" style={{ overflowWrap: 'anywhere' }}>
        {locationText(location)}
      </Code>
      {href && (
        <ExternalLink href={href}>
          <Text span size="sm">
            View on {provider ? PROVIDER_NAMES[provider] : 'the code host'}{' '}
            <IconExternalLink size={13} aria-hidden style={{ verticalAlign: '-2px' }} />
          </Text>
        </ExternalLink>
      )}
    </Group>
  )
}

/** Where the code host shows a repository. Null if it is not known. */
function useRepositoryAddress({ repository, provider, repository_id }: CodePlaceProps['finding']): string | null {
  const { slug: org } = useOrganization()
  const { data } = api.useQuery(
    'get',
    '/app/api/orgs/{org}/repositories',
    { params: { path: { org }, query: { search: repository, limit: 20 } } },
    { staleTime: 300_000 },
  )
  const found = data?.data.find(
    (each) =>
      each.full_name === repository &&
      (provider === null || each.provider === provider) &&
      (repository_id === null || each.repository_id === repository_id),
  )
  return found?.html_url ?? null
}
