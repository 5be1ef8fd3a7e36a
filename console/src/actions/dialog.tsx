import { Modal, type ModalProps, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { ApiFormView, useApiForm } from './api-form.tsx'

const REASON_MAX = 500

/** A dialog about something: the row whose button was pressed, or `true` if there is only one. */
type DialogState<Subject> = {
  /** What it is about. Stays while the dialog closes. Null before it was opened. */
  subject: Subject | null
  isOpen: boolean
  open: (subject: Subject) => void
  close: () => void
}

export function useDialog<Subject>(): DialogState<Subject> {
  const [state, setState] = useState<{ subject: Subject | null; isOpen: boolean }>({ subject: null, isOpen: false })
  return {
    ...state,
    open: (subject) => setState({ subject, isOpen: true }),
    close: () => setState(({ subject }) => ({ subject, isOpen: false })),
  }
}

type DialogProps<Subject> = Pick<ModalProps, 'size' | 'closeOnClickOutside' | 'closeOnEscape' | 'withCloseButton'> & {
  dialog: DialogState<Subject>
  title: string
  children: (subject: NonNullable<Subject>) => ReactNode
}

/** A dialog. Its content starts afresh each time, and the focus returns to where it was. */
export function Dialog<Subject>({ dialog, title, children, closeOnEscape = true, ...props }: DialogProps<Subject>) {
  return (
    <Modal
      opened={dialog.isOpen}
      onClose={dialog.close}
      title={title}
      {...props}
      // Mantine listens to the whole window: Escape in a dialog above this one would close both.
      closeOnEscape={false}
      onKeyDown={({ key, defaultPrevented }) => {
        if (key === 'Escape' && closeOnEscape && !defaultPrevented) dialog.close()
      }}
    >
      {dialog.subject != null && children(dialog.subject)}
    </Modal>
  )
}

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
    <ApiFormView
      form={confirm}
      submitLabel={confirmLabel}
      submitProps={{ color: 'red.9' }}
      onCancel={onClose}
      focusesCancel={!asksReason && phrase === undefined}
    >
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
          data-autofocus
          {...confirm.form.getInputProps('reason')}
        />
      )}
      {phrase !== undefined && (
        <TextInput
          label={`Type “${phrase}” to confirm`}
          autoComplete="off"
          data-autofocus={asksReason ? undefined : true}
          {...confirm.form.getInputProps('phrase')}
        />
      )}
    </ApiFormView>
  )
}
