import { Code, Group, Text } from '@mantine/core'
import { IconExternalLink } from '@tabler/icons-react'
import type { Schema } from '../../api/client.ts'
import { ExternalLink } from '../../page/link.tsx'
import { PROVIDER_NAMES } from '../../page/names.ts'
import { useRepositoryAddress } from '../../page/repository.tsx'
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
