import { IconCircleCheck, IconCircleDashed, IconCircleMinus, IconCircleX, IconClock } from '@tabler/icons-react'
import { type Tone, ToneBadge } from '../../page/badges.tsx'
import { DELIVERY_STATUSES, type Delivery } from './delivery.ts'

const BADGES = {
  received: ['Received', 'waiting', IconCircleDashed],
  applied: ['Applied', 'success', IconCircleCheck],
  ignored: ['Ignored', 'neutral', IconCircleMinus],
  failed: ['Failed', 'failure', IconCircleX],
} as const satisfies Record<Delivery['status'], [string, Tone, typeof IconClock]>

export const DELIVERY_STATUS_OPTIONS = DELIVERY_STATUSES.map((value) => ({ value, label: BADGES[value][0] }))

export function DeliveryBadge({ delivery: { status, waiting } }: { delivery: Pick<Delivery, 'status' | 'waiting'> }) {
  const [label, tone, icon] = waiting ? (['Waiting', 'waiting', IconClock] as const) : BADGES[status]
  return (
    <ToneBadge tone={tone} icon={icon}>
      {label}
    </ToneBadge>
  )
}
