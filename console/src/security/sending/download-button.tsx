import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import type { SecurityUpload } from './upload-item.ts'

type DownloadProps = { org: string; upload: SecurityUpload }

/** Downloads the file of an upload. */
export function DownloadButton({ org, upload: { id, filename } }: DownloadProps) {
  return (
    <Button
      component="a"
      href={addressOf(org, id)}
      download={filename}
      variant="default"
      leftSection={<IconDownload size={15} aria-hidden />}
    >
      Download
    </Button>
  )
}

/** The same, where there is little room. */
export function DownloadIcon({ org, upload: { id, filename } }: DownloadProps) {
  return (
    <Tooltip label="Download">
      <ActionIcon
        component="a"
        href={addressOf(org, id)}
        download={filename}
        variant="subtle"
        color="gray"
        aria-label={`Download ${filename}`}
      >
        <IconDownload size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}

function addressOf(org: string, id: string): string {
  return `/app/api/orgs/${encodeURIComponent(org)}/security/uploads/${encodeURIComponent(id)}/download`
}

/** The findings of the report's repository, branch and category. */
export function findingsSearch({ repository, provider, git_ref, category }: SecurityUpload) {
  return {
    repository,
    provider: provider ?? undefined,
    branch: git_ref?.replace(/^refs\/heads\//, '') ?? undefined,
    category: category ?? undefined,
  }
}

/** The issues of the report's repository. */
export function issuesSearch({ repository, provider }: SecurityUpload) {
  return { repository, provider: provider ?? undefined }
}
