import { NativeSelect, type NativeSelectProps } from '@mantine/core'
import { formatTime } from '../../page/time.tsx'

const DAY_MS = 86_400_000
const CHOICES = [
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
  { value: '', label: 'Never' },
]
export const EXPIRY_DEFAULT = '90'

/** The time of a choice of `ExpirySelect`. Null: never. */
export function expiryTime(days: string): string | null {
  return days === '' ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString()
}

/** When a key or a trust ends. Its value is a number of days. */
export function ExpirySelect({ value, ...props }: NativeSelectProps & { value?: string }) {
  const at = expiryTime(value ?? '')
  return (
    <NativeSelect
      label="Expires"
      description={at === null ? 'It works until somebody revokes it.' : `It works until ${formatTime(at)}.`}
      data={CHOICES}
      value={value}
      {...props}
    />
  )
}
