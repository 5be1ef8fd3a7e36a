import { Alert, Text } from '@mantine/core'
import { IconCircleMinus } from '@tabler/icons-react'
import { oneLine } from '../../page/reported-text.ts'
import { formatTime, Time } from '../../page/time.tsx'
import { nameOfSource } from '../facts/names.ts'
import { nameOfReason } from './dismiss-reasons.ts'

type Dismissed = {
  dismiss_reason: string | null
  dismiss_comment: string | null
  dismissed_by_name: string | null
  dismissed_at: string | null
  dismissal_source: string | null
  dismissal_expires_at?: string | null
}

/** Who dismissed something, when, why, and until when. */
export function DismissalNote({ dismissed }: { dismissed: Dismissed }) {
  const { dismiss_reason, dismiss_comment, dismissed_by_name, dismissed_at, dismissal_source } = dismissed
  const by = dismissed_by_name ?? (dismissal_source === null ? null : nameOfSource(dismissal_source))
  return (
    <Alert color="gray" variant="light" icon={<IconCircleMinus />} title="Dismissed">
      <Text size="sm">
        {by !== null && `By ${oneLine(by, 100)}`} {dismissed_at && <Time at={dismissed_at} />}
        {dismiss_reason && `: ${oneLine(nameOfReason(dismiss_reason), 200)}`}
      </Text>
      {dismiss_comment && (
        <Text size="sm" mt={4} lineClamp={6}>
          <bdi>{oneLine(dismiss_comment, 1000)}</bdi>
        </Text>
      )}
      {dismissed.dismissal_expires_at && (
        <Text size="sm" mt={4}>
          Opens again on {formatTime(dismissed.dismissal_expires_at)}.
        </Text>
      )}
    </Alert>
  )
}
