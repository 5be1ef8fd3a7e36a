import { Button, Group, Stack, Text } from '@mantine/core'
import { IconDownload, IconPackages } from '@tabler/icons-react'
import type { Schema } from '../../api/client.ts'
import { useWholeCursorList } from '../../list/list-page.ts'
import { Link } from '../../page/link.tsx'
import { formatPlural } from '../../page/numbers.ts'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { withoutHost } from '../../page/repository.tsx'
import { Section } from '../../page/sections.tsx'
import { Time } from '../../page/time.tsx'
import { uploadsOfRunQuery } from '../facts/queries.ts'

type Upload = Schema<'SecurityUpload'>

/** The bills of materials that the jobs of a run have sent. Nothing if there are none. */
export function RunSboms({ org, runId, repository }: { org: string; runId: string; repository: string }) {
  const uploads = useWholeCursorList(uploadsOfRunQuery(org, runId))
  const sboms = uploads.rows?.filter(({ counts }) => counts.components > 0) ?? []
  if (sboms.length === 0) return null
  return (
    <Section
      title="Bills of materials"
      count={sboms.length}
      actions={
        <Link {...pages.components(org)} search={{ repository: withoutHost(repository) }} size="sm">
          Components of the repository
        </Link>
      }
    >
      <Stack gap="xs">
        {sboms.map((upload) => (
          <SbomRow key={upload.id} org={org} upload={upload} />
        ))}
      </Stack>
    </Section>
  )
}

function SbomRow({ org, upload }: { org: string; upload: Upload }) {
  const { id, filename, category, counts, created_at } = upload
  const { opened, closed } = counts.matches
  return (
    <Group gap="sm">
      <IconPackages size={18} aria-hidden />
      <Stack gap={0} flex="1 1 14rem" miw={0}>
        <Link {...pages.upload(org, id)} size="sm" fw={500} truncate>
          <bdi>{oneLine(filename, 200)}</bdi>
        </Link>
        <Text size="xs" c="dimmed">
          {formatPlural(counts.components, 'component')}
          {category !== null && ` · category ${oneLine(category, 80)}`}
          {opened + closed > 0 && ` · ${formatPlural(opened, 'match', 'matches')} opened, ${closed} closed`}
          {' · '}
          <Time at={created_at} />
        </Text>
      </Stack>
      <Button
        component="a"
        size="xs"
        variant="default"
        leftSection={<IconDownload size={14} aria-hidden />}
        href={`/app/api/orgs/${encodeURIComponent(org)}/sboms/${encodeURIComponent(id)}/document`}
        download={filename}
        aria-label={`Download ${filename}`}
      >
        Download
      </Button>
    </Group>
  )
}
