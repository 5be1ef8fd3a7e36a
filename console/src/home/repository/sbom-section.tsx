import { Button, Group, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { notifyFailed } from '../../actions/notify.tsx'
import { client } from '../../api/client.ts'
import { saveFile } from '../../page/copy.tsx'
import { Link } from '../../page/link.tsx'
import type { Provider } from '../../page/names.ts'
import { formatPlural } from '../../page/numbers.ts'
import { pages } from '../../page/pages.ts'
import { oneLine } from '../../page/reported-text.ts'
import { Facts, Section } from '../../page/sections.tsx'
import { QueryView } from '../../page/states.tsx'
import { Time } from '../../page/time.tsx'
import { sbomQueries } from '../facts/queries.ts'

const FORMATS = { cyclonedx: 'CycloneDX', spdx: 'SPDX' } as const

type SbomProps = { org: string; repository: string; provider: Provider | undefined }

/** What the newest bills of materials of a repository contain, and how to export it. */
export function SbomSection({ org, repository, provider }: SbomProps) {
  const read = sbomQueries(org, repository, provider)
  const components = useQuery(read.components)
  const uploads = useQuery(read.uploads)
  const newest = uploads.data?.data.find(({ counts }) => counts.components > 0)
  return (
    <Section
      title="Bill of materials"
      actions={
        <Link {...pages.components(org)} search={{ repository, provider }} size="sm">
          All components
        </Link>
      }
    >
      <QueryView query={components} of="components">
        {({ data, next_cursor }) =>
          data.length === 0 ? (
            <Text size="sm" c="dimmed">
              No newest bill of materials names a component. So it is not known what the repository contains.
            </Text>
          ) : (
            <>
              <Facts
                facts={[
                  [
                    'Components',
                    next_cursor === null ? formatPlural(data.length, 'component') : `More than ${data.length}`,
                  ],
                  [
                    'Newest document',
                    newest && (
                      <Link {...pages.upload(org, newest.id)} size="sm">
                        <bdi>{oneLine(newest.filename, 100)}</bdi>
                      </Link>
                    ),
                  ],
                  ['Sent', newest && <Time at={newest.created_at} />],
                ]}
              />
              <Group gap="xs">
                <ExportButton format="cyclonedx" {...{ org, repository, provider }} />
                <ExportButton format="spdx" {...{ org, repository, provider }} />
              </Group>
            </>
          )
        }
      </QueryView>
    </Section>
  )
}

/** Saves the merged document of the tracked branch, as the server wrote it. */
function ExportButton({ org, repository, provider, format }: SbomProps & { format: keyof typeof FORMATS }) {
  const [isBusy, setBusy] = useState(false)
  const save = async () => {
    setBusy(true)
    try {
      const { data } = await client.GET('/app/api/orgs/{org}/security/sbom', {
        params: { path: { org }, query: { repository, format, ...(provider && { provider }) } },
        parseAs: 'text',
      })
      saveFile(`${repository.replaceAll(/[^\w.-]+/g, '-')}.${format}.json`, String(data))
    } catch (error) {
      notifyFailed('The bill of materials was not exported', error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button
      size="xs"
      variant="default"
      loading={isBusy}
      leftSection={<IconDownload size={14} aria-hidden />}
      onClick={() => void save()}
    >
      Export {FORMATS[format]}
    </Button>
  )
}
