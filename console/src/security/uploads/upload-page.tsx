import { Alert, List, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useOrganization } from '../../api/session.ts'
import { StatusBadge } from '../../page/badges.tsx'
import { Link } from '../../page/link.tsx'
import { Page } from '../../page/page.tsx'
import { pages } from '../../page/pages.ts'
import { QueryView } from '../../page/query-view.tsx'
import { DownloadButton } from './download-button.tsx'
import { uploadQuery } from './routes.ts'
import { UploadCounts } from './upload-counts.tsx'
import { UploadFacts } from './upload-facts.tsx'
import type { SecurityUpload } from './upload-item.ts'

const route = getRouteApi('/signed-in/orgs/$org/security/uploads/$id')

/** One upload: what it is, what it changed, and what could not be read. */
export function UploadPage() {
  const { slug: org } = useOrganization()
  const { id } = route.useParams()
  const query = useQuery(uploadQuery(org, id))
  const upload = query.data?.data
  return (
    <Page
      title={upload?.filename ?? 'Upload'}
      heading={<bdi>{upload?.filename ?? 'Upload'}</bdi>}
      breadcrumbs={
        <Link {...pages.uploads(org)} size="sm">
          Uploads
        </Link>
      }
      actions={upload && hasFile(upload) && <DownloadButton org={org} upload={upload} />}
    >
      <QueryView query={query} of="upload">
        {({ data }) => <Upload org={org} upload={data} />}
      </QueryView>
    </Page>
  )
}

function Upload({ org, upload }: { org: string; upload: SecurityUpload }) {
  const { status, error, warnings, truncated } = upload
  return (
    <Stack gap="lg">
      <div role="status">
        <StatusBadge status={status} />
      </div>
      {error && (
        <Alert color="red" variant="light" icon={<IconAlertTriangle />} title="The report could not be read">
          <Text size="sm">{error}</Text>
          <Text size="sm" mt={4}>
            Nothing was changed. <Link {...pages.uploads(org)}>Upload it again</Link> when it is corrected.
          </Text>
        </Alert>
      )}
      {truncated && (
        <Alert color="yellow" variant="light" icon={<IconAlertTriangle />} title="Not all findings are stored">
          The report has more than 100,000 findings. Only the first 100,000 are stored.
        </Alert>
      )}
      <UploadCounts org={org} upload={upload} />
      <SimpleGrid cols={{ base: 1, md: warnings.length > 0 ? 2 : 1 }}>
        <UploadFacts upload={upload} />
        {warnings.length > 0 && (
          <Paper p="md" component="section" aria-labelledby="warnings">
            <Title order={2} id="warnings" mb="sm">
              Warnings
            </Title>
            <List
              size="sm"
              spacing="xs"
              icon={<IconAlertTriangle size={16} color="var(--shiplock-medium)" aria-hidden />}
            >
              {warnings.map((warning) => (
                <List.Item key={warning}>{warning}</List.Item>
              ))}
            </List>
          </Paper>
        )}
      </SimpleGrid>
    </Stack>
  )
}

function hasFile({ status }: SecurityUpload): boolean {
  return status !== 'failed' && status !== 'pending'
}
