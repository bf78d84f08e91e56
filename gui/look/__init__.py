"""How the window looks: colours and fonts, icons, numbers as text."""
