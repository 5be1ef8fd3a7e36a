import { Modal, type ModalProps } from '@mantine/core'
import { type ReactNode, useState } from 'react'

/** A dialog about something: the row whose button was pressed, or `true` if there is only one. */
export type DialogState<Subject> = {
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
