import { type Static, Type } from 'typebox'
import { Maybe, readAs, Text } from '../../../kit/payload.ts'

const Subscription = Type.Object({
  id: Text,
  publisherId: Maybe(Text),
  eventType: Maybe(Text),
  status: Maybe(Text),
  publisherInputs: Maybe(Type.Object({ projectId: Maybe(Text) })),
  consumerInputs: Maybe(Type.Object({ url: Maybe(Text) })),
})
export type Subscription = Static<typeof Subscription>

export function parseSubscription(value: unknown): Subscription {
  return readAs(Subscription, value)
}
