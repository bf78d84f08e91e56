shot
HERE/tutorial.gradstep
