import { Stack, Text, Textarea, TextInput } from '@mantine/core'
import type { ReactNode } from 'react'
import { ApiFormView } from './api-form.tsx'
import { useApiForm } from './use-api-form.ts'

type ConfirmFormProps = {
  /** What will happen. */
  children: ReactNode
  /** The label of the button: the verb of the action. */
  confirmLabel: string
  /** Asks for a reason, which the audit log keeps. */
  asksReason?: boolean
  /** What has to be typed first. Only for what cannot be undone. */
  phrase?: string
  send: (values: { reason: string | null }) => Promise<unknown>
  onClose: () => void
}

const REASON_MAX = 500

/** The content of a dialog that confirms a dangerous action. */
export function ConfirmForm({ children, confirmLabel, asksReason, phrase, send, onClose }: ConfirmFormProps) {
  const confirm = useApiForm({
    initialValues: { reason: '', phrase: '' },
    validate: { phrase: (typed) => (phrase === undefined || typed.trim() === phrase ? null : `Type ${phrase}.`) },
    send: async ({ reason }) => {
      await send({ reason: reason.trim() || null })
      onClose()
    },
  })
  return (
    <ApiFormView form={confirm} submitLabel={confirmLabel} submitProps={{ color: 'red.9' }} onCancel={onClose}>
      <Stack gap="xs">
        <Text size="sm" component="div">
          {children}
        </Text>
      </Stack>
      {asksReason && (
        <Textarea
          label="Reason"
          description="Optional. The audit log keeps it."
          maxLength={REASON_MAX}
          autosize
          minRows={2}
          {...confirm.form.getInputProps('reason')}
        />
      )}
      {phrase !== undefined && (
        <TextInput label={`Type “${phrase}” to confirm`} autoComplete="off" {...confirm.form.getInputProps('phrase')} />
      )}
    </ApiFormView>
  )
}
