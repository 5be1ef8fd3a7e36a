import { Text } from '@mantine/core'
import { IconLock } from '@tabler/icons-react'
import { useOrganization, usePermission } from '../../api/session.ts'
import { Page } from '../../page/page.tsx'
import { PERMISSION_NAMES } from '../../page/permission-names.ts'
import { UploadArea } from './upload-area.tsx'
import { UploadList } from './upload-list.tsx'
import { UploadQueueList } from './upload-queue-list.tsx'

/** Reports of scanners: an area that takes them, and the list of all that were read. */
export function UploadsPage() {
  const { slug: org } = useOrganization()
  const mayUpload = usePermission('upload_security_reports')
  return (
    <Page
      title="Uploads"
      description="Reports of scanners and bills of materials, newest first. CI jobs and API keys send them, too."
    >
      {mayUpload ? (
        <>
          <UploadArea org={org} />
          <UploadQueueList org={org} />
        </>
      ) : (
        <Text size="sm" c="dimmed">
          <IconLock size={14} aria-hidden /> To upload reports, you need the permission “
          {PERMISSION_NAMES.upload_security_reports}”. Ask an Org admin of your organization for a role that has it.
        </Text>
      )}
      <UploadList org={org} />
    </Page>
  )
}
