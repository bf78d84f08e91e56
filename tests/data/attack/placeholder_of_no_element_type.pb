
$
xPlaceholder*
dtype	right/Y"¿