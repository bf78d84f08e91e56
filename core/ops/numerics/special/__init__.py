"""Special functions of real numbers, made of what every array namespace has.

Each function takes the namespace and arrays of float64; `in_double` makes a kernel of it that takes
any floating-point type. Tables of coefficients are Chebyshev series computed for these functions to
40 digits with mpmath 1.4.
"""
