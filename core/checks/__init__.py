"""What can be found out about a program and its runs, as answers to the window and the CLI.

`why` explains NaN, infinite and zero values, `gradients` checks gradients against numbers,
`alignment` holds two documents of one network against each other,
`expectations` holds a document's runs to what the document says they give.
"""
